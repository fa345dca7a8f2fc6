import type { CheckVerdict } from '../../../domain/terms.ts';
import type { CheckedRow, RunCheck } from '../../report/check-file.ts';

const mostFirst = 20;

/** Counts the rows of a check. */
export class CheckTally {
  readonly #counts: Record<CheckVerdict, number> = { as_wanted: 0, not_as_wanted: 0, gone: 0, overtaken: 0 };
  readonly #unclear = { rows: 0, done: 0, not_done: 0, unfinished: 0 };
  readonly #first: RunCheck['first'][number][] = [];
  #succeededNotAsWanted = 0;

  add({ row, subject, outcome, check, there, open, isUnfinished }: CheckedRow, thing: string): void {
    const isOdd = check === 'not_as_wanted' || check === 'gone';
    this.#counts[check]++;
    if (open) {
      this.#unclear.rows++;
      if (isOdd) this.#unclear.not_done++;
      if (isOdd && isUnfinished) this.#unclear.unfinished++;
      if (check === 'as_wanted') this.#unclear.done++;
    }
    if (!isOdd) return;
    if (outcome === 'succeeded') this.#succeededNotAsWanted++;
    if (this.#first.length < mostFirst) this.#first.push({ row, entry: `${thing} ${subject}`, check, there });
  }

  counts(): Pick<RunCheck, 'counts' | 'succeeded_not_as_wanted' | 'unclear' | 'first'> {
    return {
      counts: this.#counts,
      succeeded_not_as_wanted: this.#succeededNotAsWanted,
      unclear: this.#unclear,
      first: this.#first,
    };
  }
}

/** Whether each row that succeeded is as wanted, and each unclear row has turned out to be done. */
export function isAsReported({ succeeded_not_as_wanted, unclear }: RunCheck): boolean {
  return succeeded_not_as_wanted === 0 && unclear.not_done === 0;
}
