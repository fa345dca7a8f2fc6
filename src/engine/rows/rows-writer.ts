import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { removeIfPossible } from '../../base/disk/files.ts';
import type { Digest } from '../../base/disk/hash-file.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { jsonLine } from '../../base/text/json.ts';
import { type HeadOperation, type RowsHead, rowsHeadSchema, rowsInBlock, rowsVersion } from './head.ts';
import type { CellTexts, DecidedRow, PlannedOperation } from './row.ts';
import { type OperationSummary, RowTally } from './row-counts.ts';
import { encodeRow } from './row-line.ts';

const portionCharacters = 1 << 18;

export interface WrittenRows {
  readonly head: RowsHead;
  readonly digest: Digest;
  /** Places of rows that an earlier run may have changed. */
  readonly unclear: readonly number[];
}

/** The part of the head that does not follow from the rows. */
export type HeadFacts = Omit<RowsHead, 'rows_version' | 'operations' | 'renumbered' | 'blocks'>;

interface OperationEntry {
  readonly operation: PlannedOperation;
  readonly index: number;
}

/** Writes the rows, then copies them behind the head, which is known last. The file appears whole or not at all. */
export class RowsWriter {
  readonly #path: string;
  readonly #partPath: string;
  #file: FileHandle | undefined;
  readonly #operations = new Map<string, OperationEntry>();
  readonly #blocks: number[] = [];
  #lines: string[] = [];
  #length = 0;
  #rows = 0;
  #isRenumbered = false;
  readonly #unclear: number[] = [];

  constructor(path: string) {
    this.#path = path;
    this.#partPath = `${path}.part`;
  }

  /** @returns a write to await before the next row, if enough lines have come together */
  add(row: DecidedRow, cells: CellTexts): Promise<void> | undefined {
    const entry = row.operation && this.#entryOf(row.operation);
    const line = encodeRow(row, cells, entry?.index);
    if (this.#rows % rowsInBlock === 0) this.#blocks.push(0);
    this.#blocks[this.#blocks.length - 1] = (this.#blocks.at(-1) ?? 0) + Buffer.byteLength(line);
    this.#rows += 1;
    if (row.row !== this.#rows) this.#isRenumbered = true;
    if (row.kind === 'callable' && row.unclear) this.#unclear.push(this.#rows);
    this.#lines.push(line);
    this.#length += line.length;
    return this.#length >= portionCharacters ? this.#flush() : undefined;
  }

  /** @param summaries the counts by operation */
  async end(facts: HeadFacts, summaries: Readonly<Record<string, OperationSummary>>): Promise<WrittenRows> {
    await this.#flush();
    await this.#file?.close();
    // In the order of the schema: a plan that is read is written again, and must have the same bytes.
    const head: RowsHead = rowsHeadSchema.parse({
      rows_version: rowsVersion,
      ...facts,
      operations: [...this.#operations.values()].map((entry) => headOperation(entry, summaries)),
      ...(this.#isRenumbered && { renumbered: true }),
      blocks: this.#blocks,
    });
    const digest = await writeWhole(`${this.#path}.whole`, [
      [Buffer.from(jsonLine(head))],
      createReadStream(this.#partPath, { highWaterMark: portionCharacters }),
    ]);
    await onDisk(this.#path, () => rename(`${this.#path}.whole`, this.#path));
    await rm(this.#partPath, { force: true });
    return { head, digest, unclear: this.#unclear };
  }

  async discard(): Promise<void> {
    await this.#file?.close().catch(() => {});
    for (const path of [this.#partPath, `${this.#path}.whole`]) await removeIfPossible(path);
  }

  #entryOf(operation: PlannedOperation): OperationEntry {
    const existing = this.#operations.get(operation.name);
    if (existing !== undefined) return existing;
    const entry = { operation, index: this.#operations.size };
    this.#operations.set(operation.name, entry);
    return entry;
  }

  async #flush(): Promise<void> {
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    await onDisk(this.#partPath, async () => {
      this.#file ??= await open(this.#partPath, 'wx', 0o600);
      await this.#file.writeFile(text);
    });
  }
}

function headOperation(
  { operation }: OperationEntry,
  summaries: Readonly<Record<string, OperationSummary>>,
): HeadOperation {
  const { name, thing, done, subject, fields, columns, mayReset, key, auth, module } = operation;
  const { thing: _, first, last, fields: effects, ...counts } = summaries[name] ?? new RowTally().summary();
  return {
    name,
    thing,
    ...(done !== undefined && { done }),
    subject,
    fields: fields.map(({ name, required, undoable }) => ({ name, required, undoable })),
    columns: [...columns],
    ...(mayReset !== undefined && { mayReset }),
    ...(key !== undefined && { key }),
    ...(auth !== undefined && { auth }),
    ...(module !== undefined && { module }),
    counts,
    ...(first && { first }),
    ...(last && { last }),
    effects,
  };
}

async function writeWhole(path: string, parts: readonly (Iterable<Buffer> | AsyncIterable<Buffer>)[]) {
  const hash = createHash('sha256');
  let bytes = 0;
  return onDisk(path, async (): Promise<Digest> => {
    const file = await open(path, 'wx', 0o600);
    try {
      for (const part of parts) {
        for await (const chunk of part) {
          hash.update(chunk);
          bytes += chunk.length;
          await file.writeFile(chunk);
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
    return { sha256: hash.digest('hex'), bytes };
  });
}
