import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { withScope } from '../../../../base/async/scope.ts';
import { removeIfPossible } from '../../../../base/disk/files.ts';
import { readFileParts } from '../../../../base/disk/open-file.ts';
import { CqbatchError, usageError } from '../../../../base/errors/errors.ts';
import { systemError } from '../../../../base/errors/system-error.ts';
import { jsonLine } from '../../../../base/text/json.ts';
import { escapeInvisible } from '../../../../base/text/printable.ts';
import type { Operation } from '../../../operation/operation.ts';
import { operationNamed, shownRequest } from '../../../operation/shown-request.ts';
import type { RowsHead } from '../../../rows/head.ts';
import type { Overflow } from '../../../rows/record-pages.ts';
import type { PlannedOperation } from '../../../rows/row.ts';
import { decodeRow } from '../../../rows/row-line.ts';
import { headIn, linesIn } from '../../../rows/rows-file.ts';
import { SubjectIndex } from '../../../rows/subject-index.ts';
import type { RunStore } from '../../record/store.ts';
import { DecidedRowsWriter, type PlannedRows } from '../planned-rows.ts';
import { optionsAndConsentOf, type PlanFile, passedToDigest, unreadablePlanError } from './plan-file.ts';

/** A plan with a file of rows for a run to take over. */
export interface ReadPlan extends PlanFile {
  readonly planned: PlannedRows;
  readonly path: string;
}

export interface ReadPlanOptions {
  /** The most bytes of the manifest that the plan was made of. Default: any number. */
  readonly maxBytes?: number;
  /** For what finds rows with the same subject. Default: in the state folder. */
  readonly overflow?: Overflow;
}

/**
 * Copies the rows, and checks that they are as this version writes them.
 *
 * @param path of the copy
 * @throws a usage error `PLAN_NOT_FOUND`, `PLAN_UNREADABLE` or `PLAN_CHANGED`; those of `shownRequest`, so that a plan shows only requests that
 *   are sent; a `SystemError` of the disk
 */
export function readPlanFile(
  store: Pick<RunStore, 'stateDir' | 'operations'>,
  file: string,
  path: string,
  { maxBytes = Number.POSITIVE_INFINITY, overflow = { folder: store.stateDir } }: ReadPlanOptions = {},
): Promise<ReadPlan> {
  return withScope(async (defer) => {
    const packed = new PackedRows(file);
    const subjects = new SubjectIndex(overflow);
    defer(() => subjects.close());
    let copy: RowsCopy | undefined;
    try {
      for await (const lines of linesIn(packed.bytes(), longestLine)) {
        for (const line of lines) {
          if (copy !== undefined) {
            await copy.add(line);
            continue;
          }
          const head = readHead(line, maxBytes);
          packed.mostBytes = bytesWith(head);
          const begun = new RowsCopy(store, { head, file, path, subjects });
          defer(() => begun.discard());
          copy = begun;
        }
      }
      if (copy === undefined) throw new RangeError('is empty');
      return { ...(await copy.end(packed.contentSha256())), sha256: packed.fileSha256() };
    } catch (error) {
      await removeIfPossible(path);
      if (error instanceof RangeError) throw unreadablePlanError(file, error.message, error);
      throw isOfOperation(error)
        ? usageError(error.code, `${escapeInvisible(file)}: ${error.message}`, error)
        : error;
    }
  });
}

/** A record has at most 16 MiB of text. As JSON, with what is sent, its line is a few times as long. A longer line would fill memory. */
const longestLine = 128 * 1024 * 1024;

/** A head has the names of the columns, and a number for each thousand rows. */
const mostHeadBytes = 64 * 1024 * 1024;

/** The bytes of the rows with their head. */
function bytesWith(head: RowsHead): number {
  return head.blocks.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(jsonLine(head)));
}

/** Unpacks a plan file. A file that unpacks to too many bytes is no plan, and could fill the disk. */
class PackedRows {
  /** Undefined until the head is read. */
  mostBytes: number | undefined;
  readonly #file: string;
  readonly #fileHash = createHash('sha256');
  readonly #contentHash = createHash('sha256');

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws a RangeError whose message is a part of a sentence */
  async *bytes(): AsyncGenerator<Buffer> {
    const file = passedToDigest(readFileParts(this.#file), this.#fileHash);
    const unzipped = pipeline(file, createGunzip(), () => {});
    let bytes = 0;
    try {
      for await (const chunk of unzipped) {
        bytes += chunk.length;
        if (bytes > (this.mostBytes ?? mostHeadBytes))
          throw new RangeError(
            this.mostBytes === undefined
              ? 'does not begin like a plan'
              : 'unpacks to more bytes than its first line says',
          );
        this.#contentHash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT')
        throw usageError('PLAN_NOT_FOUND', `${escapeInvisible(this.#file)}: there is no such file`);
      throw error instanceof RangeError
        ? error
        : (systemError(error, this.#file) ?? new RangeError(`is not a plan (${(error as Error).message})`));
    } finally {
      unzipped.destroy();
    }
  }

  /** Call this after all bytes were read. */
  fileSha256(): string {
    return this.#fileHash.digest('hex');
  }

  /** Call this after all bytes were read. */
  contentSha256(): string {
    return this.#contentHash.digest('hex');
  }
}

/** @throws a RangeError whose message is a part of a sentence */
function readHead(line: string, maxBytes: number): RowsHead {
  let head: RowsHead;
  try {
    head = headIn(line);
  } catch (error) {
    throw new RangeError(`is not a plan of this version of cqbatch (${(error as Error).message})`);
  }
  if (head.source.bytes > maxBytes)
    throw new RangeError('was made of a larger manifest than max_manifest_size allows');
  requireVisible(head);
  return head;
}

/** Writes the rows of a plan as this version writes them. */
class RowsCopy {
  readonly #store: Pick<RunStore, 'operations'>;
  readonly #plan: Omit<ReadPlan, 'planned' | 'sha256'>;
  readonly #operations: readonly PlannedOperation[];
  readonly #writer: DecidedRowsWriter;
  #place = 0;

  constructor(
    { operations, stateDir }: Pick<RunStore, 'stateDir' | 'operations'>,
    { head, file, path, subjects }: Pick<ReadPlan, 'head' | 'file' | 'path'> & { subjects: SubjectIndex },
  ) {
    this.#store = { operations };
    this.#plan = { ...optionsAndConsentOf(file, head), file, path, head };
    this.#operations = head.operations.map((operation) => operationAsLoaded(operation, operations));
    const { name, sha256 } = head.source;
    this.#writer = new DecidedRowsWriter(path, { stateDir, name, sha256Of: async () => sha256 }, subjects);
  }

  /** @throws a RangeError whose message is a part of a sentence */
  async add(line: string): Promise<void> {
    this.#place += 1;
    const row = decodeRow(line, this.#place, this.#operations);
    if (row === undefined) throw new RangeError(`has a line ${this.#place + 1} that is not a row`);
    if (row.kind === 'callable')
      shownRequest(this.#store.operations, { ...row, operation: row.operation.name });
    await this.#writer.add(row, row.cells);
  }

  /** @param contentSha256 of what the copy should be */
  async end(contentSha256: string): Promise<Omit<ReadPlan, 'sha256'>> {
    const { rows_version: _, operations: __, renumbered: ___, blocks: ____, ...facts } = this.#plan.head;
    const planned = await this.#writer.end(() => facts);
    if (planned.digest.sha256 !== contentSha256) throw changedPlanError(this.#plan.file);
    return { ...this.#plan, planned };
  }

  discard(): Promise<void> {
    return this.#writer.discard();
  }
}

function isOfOperation(error: unknown): error is CqbatchError {
  return error instanceof CqbatchError && /^(OPERATION|REQUEST)_/.test(error.code);
}

/**
 * What the loaded operation says of itself: if the plan says something else, the rows are written in another way than in the plan.
 *
 * @throws a usage error `OPERATION_MISSING`
 */
function operationAsLoaded(
  { name, module }: PlannedOperation,
  operations: readonly Operation[],
): PlannedOperation {
  const { module: _, ...loaded } = operationNamed(operations, name);
  return { ...loaded, ...(module !== undefined && { module }) };
}

/** The plan is shown to people, who must see what they read: names of fields and formats are words of this program. */
function requireVisible({ source, columns }: RowsHead): void {
  const texts = [source.format, ...columns.map(({ field = '' }) => field)];
  const odd = texts.find((text) => text !== escapeInvisible(text));
  if (odd !== undefined) throw new RangeError(`has a text with control characters (${escapeInvisible(odd)})`);
}

function changedPlanError(file: string): CqbatchError {
  return usageError(
    'PLAN_CHANGED',
    `${escapeInvisible(file)} is not as "cqbatch plan --out" writes it with the operations that are loaded, so it may not do what it says: make the plan again and have it reviewed.`,
  );
}
