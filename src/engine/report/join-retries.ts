import { attemptsOf, joinAttempts } from '../../domain/attempts.ts';
import type { RowResult } from '../../domain/terms.ts';
import type { ReportLine } from './join-results.ts';

/** The lines of a run in row order, in chunks. */
export type ReportLines = AsyncIterable<readonly ReportLine[]>;

/**
 * The lines of a run, each with the result of the latest retry that called its row. Memory: one chunk of each run.
 *
 * @param retries oldest first. Their rows have the numbers of the original run, and may include rows that it lacks.
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

/** The result of a retried row, with the requests of both runs. */
function lastOf(before: RowResult, after: RowResult): RowResult {
  // A retry that stopped early may not have attempted the row.
  const isAttempted = after.outcome !== 'not_attempted' || before.outcome === 'not_attempted';
  const last = isAttempted ? after : before;
  const earlier = isAttempted
    ? joinAttempts(attemptsOf(before), after.earlier ?? [])
    : (before.earlier ?? []);
  const startedAt = before.startedAt ?? after.startedAt;
  const unprocessed = (before.unprocessed ?? 0) + (after.unprocessed ?? 0);
  return {
    ...last,
    row: before.row,
    attempts: before.attempts + after.attempts,
    unclear: before.unclear || after.unclear,
    ...(unprocessed > 0 && { unprocessed }),
    ...(startedAt !== undefined && { startedAt }),
    ...(earlier.length > 0 && { earlier }),
  };
}

/** Reads lines on demand. */
class LineReader {
  readonly #parts: AsyncIterator<readonly ReportLine[]>;
  #held: readonly ReportLine[] = [];

  constructor(lines: ReportLines) {
    this.#parts = lines[Symbol.asyncIterator]();
  }

  /** The unread lines up to this row. */
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
