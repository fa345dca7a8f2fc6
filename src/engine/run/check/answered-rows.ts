import { readCheck } from '../../report/check-file.ts';
import type { RetriedRun } from '../plan/retries.ts';
import { isCurrent } from '../record/current-check.ts';
import type { RunStore } from '../record/store.ts';

/** Unclear rows that a retry must not call again: they were done, or a later row has changed their entry. */
export interface AnsweredRows {
  /** The numbers of these rows in the user's manifest. */
  readonly rows: ReadonlySet<number>;
  /** The time of the check, ISO 8601 UTC. */
  readonly checkedAt: string;
}

/** Reads these rows from the last check. Undefined if there is none, or if the run or a retry has done anything since. */
export async function answeredRows(
  store: RunStore,
  { firstRun, retries }: RetriedRun,
): Promise<AnsweredRows | undefined> {
  const rows = new Set<number>();
  const check = await readCheck(store.folder(firstRun.id), ({ row, check, open }) => {
    if (open && (check === 'as_wanted' || check === 'overtaken')) rows.add(row);
  });
  if (check === undefined || !isCurrent(check, [firstRun, ...retries])) return undefined;
  return { rows, checkedAt: check.checked_at };
}
