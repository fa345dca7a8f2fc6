import type { RowResult } from '../../../domain/row-result.ts';
import { DigestTable } from '../../rows/digest-table.ts';
import { type CallLine, subjectKey } from '../plan/rows-with-results.ts';

/** Numbers entries in the order of their first row. The time of a call is a large number, so it has an array of its own. */
const [row, finished] = [0, 1];

/** Which row was the last that may have changed an entry, by the end of its last call. Rows of one time count in their order. */
export class LastRows {
  readonly #rows = new DigestTable(3);

  add(line: CallLine): void {
    if (!mayHaveChanged(line.result)) return;
    const key = subjectKey(line.row);
    const known = this.#rows.find(key);
    const entry = known < 0 ? this.#rows.enter(key) : known;
    const time = timeOf(line.result);
    if (known >= 0 && this.#timeAt(known) > time) return;
    this.#rows.set(entry, row, line.row.row);
    this.#rows.setLarge(entry, finished, time);
  }

  /** Whether another row may have changed the entry after this one. Call this after all rows were added. */
  isOvertaken(line: CallLine): boolean {
    const entry = this.#rows.find(subjectKey(line.row));
    if (entry < 0 || this.#rows.get(entry, row) === line.row.row) return false;
    const [time, last] = [timeOf(line.result), this.#timeAt(entry)];
    return last > time || (last === time && this.#rows.get(entry, row) > line.row.row);
  }

  #timeAt(entry: number): number {
    return this.#rows.getLarge(entry, finished);
  }
}

/** Whether an attempt may have been processed, even if the row failed. */
export function isOpenRow({ outcome, unclear }: RowResult): boolean {
  return outcome === 'pending' || (outcome === 'failed' && unclear);
}

function mayHaveChanged(result: RowResult): boolean {
  return result.outcome === 'succeeded' || isOpenRow(result);
}

/** Milliseconds since 1970; 0 if the calls of a row have left no time. */
function timeOf({ finishedAt, startedAt }: RowResult): number {
  return Date.parse(finishedAt ?? startedAt ?? '') || 0;
}
