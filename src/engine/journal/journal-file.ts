import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { fatalError } from '../../base/errors/errors.ts';
import type { RowResult } from '../../domain/row-result.ts';
import { corruptJournal, lostJournal, replacedJournal } from './failure.ts';
import type { JournalReader } from './journal.ts';
import { decodeEntry, decodeHeader, type JournalEntry, lineEnd } from './line.ts';
import { LineReader } from './line-reader.ts';
import { JournalState } from './state.ts';

const chunkSize = 1 << 20;
/** The character that decoders write for invalid UTF-8. A valid text may contain it, too. */
const replacementCharacter = '\ufffd';
const partSize = 1_000;

export interface JournalSource {
  readonly path: string;
  readonly handle: FileHandle;
  readonly runId: string;
  /** The number of rows in the manifest. */
  readonly rows: number;
}

interface PlacedRow {
  readonly row: number;
  readonly offset: number;
}

/** The file of a journal. Each reading continues where the last reading stopped. */
export class JournalFile extends JournalState implements JournalReader {
  protected readonly source: JournalSource;
  #position = 0;
  #lines = 0;
  #refreshing: Promise<number> | undefined;
  #closing: Promise<void> | undefined;

  constructor(source: JournalSource) {
    super();
    this.source = source;
  }

  get end(): number {
    return this.#position;
  }

  /**
   * Reads all complete lines. Leaves a last line without its end alone: it is still being written, or a crash tore it.
   *
   * @returns the size of the file; greater than `end` when there is such a line
   * @throws a fatal error when a line is not an entry or names a row that does not exist, or the header is of another run or version
   */
  refresh(): Promise<number> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async *results(first = 1, last = this.lastRow): AsyncGenerator<readonly RowResult[]> {
    let part: PlacedRow[] = [];
    for (let row = first; row <= Math.min(last, this.lastRow); row++) {
      const offset = this.offset(row);
      if (offset !== undefined) part.push({ row, offset });
      if (part.length === partSize) {
        yield await this.#readResults(part);
        part = [];
      }
    }
    if (part.length > 0) yield await this.#readResults(part);
  }

  close(): Promise<void> {
    this.#closing ??= this.finish().then(() => this.source.handle.close());
    return this.#closing;
  }

  protected async finish(): Promise<void> {
    // An error of the reading in progress goes to the caller of `refresh`.
    await this.#refreshing?.catch(() => {});
  }

  /** Reads in the order of lines: rows finish nearly in row order, so this takes few reads. */
  async #readResults(rows: readonly PlacedRow[]): Promise<readonly RowResult[]> {
    const { path, handle } = this.source;
    const lines = new LineReader(handle, this.end);
    const results = new Map<number, RowResult>();
    for (const { row, offset } of rows.toSorted((a, b) => a.offset - b.offset)) {
      const entry = decodeEntry((await lines.lineAt(offset)) ?? '');
      if (entry?.type !== 'row' || entry.result.row !== row)
        throw replacedJournal(path, `byte ${offset} is no longer the beginning of row ${row}'s result`);
      results.set(row, entry.result);
    }
    return rows.flatMap(({ row }) => results.get(row) ?? []);
  }

  async #read(): Promise<number> {
    const { path, handle } = this.source;
    const { size } = await handle.stat();
    if (size < this.#position)
      throw replacedJournal(path, `it had at least ${this.#position} bytes and now has ${size}`);
    const torn: Buffer[] = [];
    let at = this.#position;
    while (at < size) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkSize, size - at));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      this.#applyLines(chunk.subarray(0, bytesRead), torn);
    }
    return size;
  }

  /** @param torn the unfinished line before the chunk; afterwards, the one at its end */
  #applyLines(chunk: Buffer, torn: Buffer[]): void {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, start)) {
      let bytes = chunk.subarray(start, end + 1);
      if (torn.length > 0) {
        bytes = Buffer.concat([...torn, bytes]);
        torn.length = 0;
      }
      this.#applyLine(bytes);
      start = end + 1;
    }
    if (start < chunk.length) torn.push(chunk.subarray(start));
  }

  /** @param bytes a line with its end */
  #applyLine(bytes: Buffer): void {
    const { path, rows } = this.source;
    const line = bytes.toString('utf8', 0, bytes.length - 1);
    const number = this.#lines + 1;
    if (line.includes(replacementCharacter) && !isUtf8(bytes))
      throw corruptJournal(path, number, 'this line is not UTF-8');
    if (number === 1) this.#checkHeader(line);
    else {
      const entry = decodeEntry(line);
      if (entry === undefined) throw corruptJournal(path, number, 'this line is not a journal entry');
      const row = lastRowOf(entry);
      if (row > rows) throw corruptJournal(path, number, `there is no row ${row}: rows.jsonl has ${rows}`);
      this.apply(entry, this.#position);
    }
    this.#lines = number;
    this.#position += bytes.length;
  }

  #checkHeader(line: string): void {
    const { path, runId } = this.source;
    const header = decodeHeader(line);
    switch (header.kind) {
      case 'no-journal':
        throw lostJournal(path, 'does not begin with the header of a journal');
      case 'unknown-version':
        throw fatalError(
          'JOURNAL_VERSION',
          `${path}:1: this journal has the unknown version ${header.version}. Use the version of cqbatch that ` +
            'started the run.',
        );
      case 'known':
        if (header.run === runId) return;
        throw fatalError(
          'JOURNAL_OF_OTHER_RUN',
          `${path}:1: this is the journal of run ${header.run}, not of run ${runId}. Put the files of ` +
            'both runs back into their own folders.',
        );
    }
  }
}

function lastRowOf(entry: JournalEntry): number {
  if (entry.type === 'row') return entry.result.row;
  if (entry.type === 'open') return entry.row;
  return 'last' in entry ? entry.last : 0;
}
