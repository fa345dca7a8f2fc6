import { type RunCheck, readCheckEnd } from '../../report/check-file.ts';
import type { CheckFacts } from '../../report/next-step.ts';
import { plannedAt, type RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/**
 * What the last check of a run says of its unclear rows. Undefined without a check, and if the run or a later retry has been at work since.
 *
 * @param later the retries after the run, as far as they are known
 */
export async function currentCheck(
  store: Pick<RunStore, 'folder' | 'look'>,
  record: RunRecord,
  later: readonly RunRecord[] = [],
): Promise<CheckFacts | undefined> {
  const run = await firstRunOf(store, record);
  const check = await readCheckEnd(store.folder(run));
  if (check === undefined) return undefined;
  const { not_done: notDone, unfinished } = check.unclear;
  return isCurrent(check, [record, ...later]) ? { run, notDone: notDone - unfinished } : undefined;
}

/** Whether a check is about these runs, and none of them has been at work since. */
export function isCurrent({ runs, checked_at: checkedAt }: RunCheck, records: readonly RunRecord[]): boolean {
  return records.every(({ id, states }) => runs.includes(id) && (states.at(-1)?.at ?? '') < checkedAt);
}

/** The id of the run whose rows a retry calls again. The folder of this run has the check. */
async function firstRunOf(store: Pick<RunStore, 'look'>, record: RunRecord): Promise<string> {
  const { id, retryOf } = record;
  const retried = retryOf === undefined ? undefined : await store.look(retryOf);
  if (retried === undefined || retried === 'being planned') return id;
  // A removed run may have left its id to a newer run.
  return plannedAt(retried) >= plannedAt(record) ? id : firstRunOf(store, retried);
}
