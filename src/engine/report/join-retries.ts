import { attemptsOf, joinAttempts } from '../../domain/attempts.ts';
import type { RowResult } from '../../domain/row-result.ts';
import type { ReportLine } from './join-results.ts';

/** The lines of a report in row order, in chunks. */
export type ReportLines = AsyncIterable<readonly ReportLine[]>;

/**
 * Joins a report with retries: each line has the result of the latest retry that called its row. Memory: one chunk of each run.
 *
 * @param retries oldest first; rows that the original run lacks are ignored
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
        const earlierResult = results.get(row.row);
        if (earlierResult !== undefined)
          results.set(row.row, laterResult(earlierResult, result, row.operation?.key !== undefined));
      }
    }
    yield part.map(({ row, result }) => ({ row, result: results.get(row.row) ?? result }));
  }
}

/** @param hasKey an answer to the retry's call tells the outcome of all calls with its key */
function laterResult(ofRun: RowResult, ofRetry: RowResult, hasKey: boolean): RowResult {
  // The row may lack a result: a retry that stopped early may not have attempted the row, or not know its outcome yet.
  const isAttempted = !isOpen(ofRetry) || isOpen(ofRun);
  const last = isAttempted ? ofRetry : ofRun;
  const earlier = isAttempted
    ? joinAttempts(attemptsOf(ofRun), ofRetry.earlier ?? [])
    : (ofRun.earlier ?? []);
  const startedAt = ofRun.startedAt ?? ofRetry.startedAt;
  const unprocessed = (ofRun.unprocessed ?? 0) + (ofRetry.unprocessed ?? 0);
  return {
    ...last,
    row: ofRun.row,
    attempts: ofRun.attempts + ofRetry.attempts,
    unclear: (hasKey ? last : ofRun).unclear || ofRetry.unclear,
    ...(unprocessed > 0 && { unprocessed }),
    ...(startedAt !== undefined && { startedAt }),
    ...(earlier.length > 0 && { earlier }),
  };
}

function isOpen({ outcome }: RowResult): boolean {
  return outcome === 'not_attempted' || outcome === 'pending';
}

class LineReader {
  readonly #parts: AsyncIterator<readonly ReportLine[]>;
  #readAhead: readonly ReportLine[] = [];

  constructor(lines: ReportLines) {
    this.#parts = lines[Symbol.asyncIterator]();
  }

  async upTo(row: number): Promise<readonly ReportLine[]> {
    const read: ReportLine[] = [];
    for (;;) {
      const beyond = this.#readAhead.findIndex((line) => line.row.row > row);
      read.push(...this.#readAhead.slice(0, beyond < 0 ? this.#readAhead.length : beyond));
      this.#readAhead = beyond < 0 ? [] : this.#readAhead.slice(beyond);
      if (beyond >= 0) return read;
      const { done, value } = await this.#parts.next();
      if (done) return read;
      this.#readAhead = value;
    }
  }
}
