import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { createFile, removeIfPossible } from '../../../base/disk/files.ts';
import { readFileParts } from '../../../base/disk/open-file.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { onDisk, systemError } from '../../../base/errors/system-error.ts';
import { jsonLine } from '../../../base/text/json.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { parseBaseUrl } from '../../api/base-url.ts';
import type { Operation } from '../../operation/operation.ts';
import { operationNamed, shownRequest } from '../../operation/shown-request.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { PlannedOperation } from '../../rows/row.ts';
import { sumOf } from '../../rows/row-counts.ts';
import { decodeRow } from '../../rows/row-line.ts';
import { headIn, linesIn } from '../../rows/rows-file.ts';
import { DecidedRows } from '../../rows/rows-summary.ts';
import { RowsWriter, type WrittenRows } from '../../rows/rows-writer.ts';
import { type RunOptions, runOptionsSchema } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { ChangeFile } from './change-file.ts';
import { type PlannedRows, plannedRows } from './planned-rows.ts';
import { problemCollector } from './problem-file.ts';

/** A plan is a file of rows, compressed with gzip. */
export const planSuffix = '.cqplan';

/** Defines a run, to the byte, to be reviewed, and carried out here or elsewhere. */
export interface PlanFile {
  readonly file: string;
  /** The SHA-256 of the file, as `sha256sum` prints it. */
  readonly sha256: string;
  readonly head: RowsHead;
  readonly options: RunOptions;
  /** The permits that the user gave when the plan was made. */
  readonly consent: NonNullable<RowsHead['consent']>;
}

/**
 * @param path of the file of rows
 * @throws a usage error `PLAN_EXISTS`: a plan is never replaced
 */
export async function writePlanFile(
  file: string,
  path: string,
  { head }: Pick<WrittenRows, 'head'>,
): Promise<PlanFile> {
  const content = contentOf(file, head);
  const hash = createHash('sha256');
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const compressed = pipeline(createReadStream(path), gzip, () => {});
  if (await onDisk(file, () => createFile(file, passedToDigest(compressed, hash))))
    return { ...content, file, sha256: hash.digest('hex'), head };
  throw usageError(
    'PLAN_EXISTS',
    `${escapeInvisible(file)} already exists: remove it, or choose another name.`,
  );
}

/** A plan with a file of rows for a run to take over. */
export interface ReadPlan extends PlanFile {
  readonly planned: PlannedRows;
  readonly path: string;
}

/**
 * Copies the rows, and checks that they are as this version writes them.
 *
 * @param path of the copy
 * @param maxBytes of the manifest that the plan was made of
 * @throws a usage error `PLAN_NOT_FOUND`, `PLAN_UNREADABLE` or `PLAN_CHANGED`; those of `shownRequest`, so that a plan shows only requests that
 *   are sent
 */
export async function readPlanFile(
  store: Pick<RunStore, 'stateDir' | 'operations'>,
  file: string,
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<ReadPlan> {
  const reader = new PlanReader(store, file, path, maxBytes);
  try {
    for await (const lines of linesIn(reader.bytes(), longestLine)) await reader.take(lines);
    return await reader.end();
  } catch (error) {
    await reader.discard();
    if (error instanceof RangeError) throw unreadablePlanError(file, error.message, error);
    throw isOfOperation(error)
      ? usageError(error.code, `${escapeInvisible(file)}: ${error.message}`, error)
      : error;
  }
}

/** A record has at most 16 MiB of text. As JSON, with what is sent, its line is a few times as long. A longer line would fill memory. */
const longestLine = 128 * 1024 * 1024;

/** A head has the names of the columns, and a number for each thousand rows. */
const mostHeadBytes = 64 * 1024 * 1024;

/** Reads the rows of a plan file, line by line. Methods throw a RangeError whose message is a part of a sentence. */
class PlanReader {
  readonly #store: Pick<RunStore, 'stateDir' | 'operations'>;
  readonly #file: string;
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #writer: RowsWriter;
  readonly #fileHash = createHash('sha256');
  readonly #contentHash = createHash('sha256');
  readonly #decided = new DecidedRows();
  #head: RowsHead | undefined;
  #content: ReturnType<typeof contentOf> | undefined;
  #operations: readonly PlannedOperation[] = [];
  #problems: ReturnType<typeof problemCollector> | undefined;
  #changes: ChangeFile | undefined;
  #place = 0;

  constructor(
    store: Pick<RunStore, 'stateDir' | 'operations'>,
    file: string,
    path: string,
    maxBytes: number,
  ) {
    this.#store = store;
    this.#file = file;
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#writer = new RowsWriter(path);
  }

  async *bytes(): AsyncGenerator<Buffer> {
    const file = passedToDigest(readFileParts(this.#file), this.#fileHash);
    const unzipped = pipeline(file, createGunzip(), () => {});
    let bytes = 0;
    try {
      for await (const chunk of unzipped) {
        bytes += chunk.length;
        if (bytes > this.#mostBytes)
          throw new RangeError(
            this.#head ? 'unpacks to more bytes than its first line says' : 'does not begin like a plan',
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

  async take(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      if (this.#head === undefined) this.#begin(this.#headIn(line));
      else await this.#add(line);
    }
  }

  async end(): Promise<ReadPlan> {
    const [head, content, problems, changes] = [this.#head, this.#content, this.#problems, this.#changes];
    if (head === undefined || content === undefined || problems === undefined || changes === undefined)
      throw new RangeError('is empty');
    const { rows_version: _, operations: __, renumbered: ___, blocks: ____, ...facts } = head;
    const summary = this.#decided.summary();
    const written = await this.#writer.end({ ...facts, counts: sumOf([summary]) }, summary.perOperation);
    if (written.digest.sha256 !== this.#contentHash.digest('hex')) throw changedPlanError(this.#file);
    return {
      ...content,
      file: this.#file,
      sha256: this.#fileHash.digest('hex'),
      head,
      planned: plannedRows(written, summary, await problems.end(), await changes.end()),
      path: this.#path,
    };
  }

  async discard(): Promise<void> {
    await this.#writer.discard();
    await removeIfPossible(this.#path);
  }

  get #mostBytes(): number {
    if (this.#head === undefined) return mostHeadBytes;
    const rows = this.#head.blocks.reduce((sum, bytes) => sum + bytes, 0);
    return rows + Buffer.byteLength(jsonLine(this.#head));
  }

  #headIn(line: string): RowsHead {
    try {
      return headIn(line);
    } catch (error) {
      throw new RangeError(`is not a plan of this version of cqbatch (${(error as Error).message})`);
    }
  }

  #begin(head: RowsHead): void {
    if (head.source.bytes > this.#maxBytes)
      throw new RangeError('was made of a larger manifest than max_manifest_size allows');
    this.#head = head;
    this.#content = contentOf(this.#file, head);
    requireVisible(head);
    this.#operations = head.operations.map((operation) =>
      operationAsLoaded(operation, this.#store.operations),
    );
    const { name, sha256 } = head.source;
    const noted = { stateDir: this.#store.stateDir, name, sha256Of: async () => sha256 };
    this.#problems = problemCollector(noted);
    this.#changes = new ChangeFile(noted);
  }

  async #add(line: string): Promise<void> {
    this.#place += 1;
    const row = decodeRow(line, this.#place, this.#operations);
    if (row === undefined) throw new RangeError(`has a line ${this.#place + 1} that is not a row`);
    if (row.kind === 'callable')
      shownRequest(this.#store.operations, { ...row, operation: row.operation.name });
    if (row.kind === 'invalid') await this.#problems?.add(row);
    await this.#changes?.add(row);
    this.#decided.add(row);
    await this.#writer.add(row, row.cells);
  }
}

/** Passes bytes on, and adds them to a digest. */
async function* passedToDigest(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

function isOfOperation(error: unknown): error is CqbatchError {
  return error instanceof CqbatchError && /^(OPERATION|REQUEST)_/.test(error.code);
}

const strictOptions = z.strictObject(runOptionsSchema.shape);

function contentOf(file: string, { options, consent }: RowsHead): Pick<PlanFile, 'options' | 'consent'> {
  const { data, error } = strictOptions.safeParse(options);
  if (error !== undefined) {
    const [{ path = [], message } = { message: '' }] = error.issues;
    throw unreadablePlanError(
      file,
      `has an option that this version of cqbatch does not know (${path.join('.')}: ${message})`,
    );
  }
  if (consent === undefined) throw unreadablePlanError(file, 'does not say what was accepted');
  if (!hasNormalizedAddress(data))
    throw unreadablePlanError(file, 'has an address that is not written as cqbatch writes it');
  return { options: data, consent };
}

function hasNormalizedAddress({ baseUrl, allowInsecureHttp }: RunOptions): boolean {
  try {
    return parseBaseUrl(baseUrl, { allowInsecureHttp }) === baseUrl;
  } catch {
    return false;
  }
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

function unreadablePlanError(file: string, why: string, cause?: unknown): CqbatchError {
  return usageError(
    'PLAN_UNREADABLE',
    `${escapeInvisible(file)} ${why}: make one with "cqbatch plan MANIFEST --out NAME${planSuffix}".`,
    cause,
  );
}
