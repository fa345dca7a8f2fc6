import type { RowResult } from '../domain.ts';
import type { ReportLine } from './join-results.ts';

/** The lines of a run in the order of their rows, in parts. */
export type ReportLines = AsyncIterable<readonly ReportLine[]>;

/**
 * The lines of a run, each with the last state of its row: that of the latest retry which has called it. Memory: a part
 * of each.
 *
 * @param retries the oldest first; their rows are numbered as those of the run, and may be others, too.
 */
export async function* joinRetries(
  lines: ReportLines,
  retries: readonly ReportLines[],
): AsyncGenerator<readonly ReportLine[]> {
  const readers = retries.map((retry) => new LineReader(retry));
  for await (const part of lines) {
    const last = part.at(-1)?.row.row ?? 0;
    const results = new Map(part.map(({ row, result }) => [row.row, result]));
    for (const reader of readers) {
      for (const { row, result } of await reader.upTo(last)) {
        const before = results.get(row.row);
        if (before !== undefined) results.set(row.row, lastOf(before, result));
      }
    }
    yield part.map(({ row, result }) => ({ row, result: results.get(row.row) ?? result }));
  }
}

/** What became of a row that was to be called again, with the requests of both runs. */
function lastOf(before: RowResult, after: RowResult): RowResult {
  // The API may have put it off, and then the retry was given up.
  const last = after.outcome === 'not_attempted' ? before : after;
  const startedAt = before.startedAt ?? after.startedAt;
  const unprocessed = (before.unprocessed ?? 0) + (after.unprocessed ?? 0);
  return {
    ...last,
    row: before.row,
    attempts: before.attempts + after.attempts,
    unclear: before.unclear || after.unclear,
    ...(unprocessed > 0 && { unprocessed }),
    ...(startedAt !== undefined && { startedAt }),
  };
}

/** Reads lines as far as they are wanted. */
class LineReader {
  readonly #parts: AsyncIterator<readonly ReportLine[]>;
  #held: readonly ReportLine[] = [];

  constructor(lines: ReportLines) {
    this.#parts = lines[Symbol.asyncIterator]();
  }

  /** The lines up to that row which were not read before. */
  async upTo(row: number): Promise<readonly ReportLine[]> {
    const read: ReportLine[] = [];
    for (;;) {
      const beyond = this.#held.findIndex((line) => line.row.row > row);
      read.push(...this.#held.slice(0, beyond < 0 ? this.#held.length : beyond));
      this.#held = beyond < 0 ? [] : this.#held.slice(beyond);
      if (beyond >= 0) return read;
      const { done, value } = await this.#parts.next();
      if (done) return read;
      this.#held = value;
    }
  }
}
