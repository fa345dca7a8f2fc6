import type { CodeCount } from '../../journal/state.ts';
import { retryCommand } from '../../report/retry-command.ts';
import type { RunSummary } from '../../report/summary.ts';
import { retriesAfter, retriesAmong } from '../plan/retries.ts';
import { hasRowsToRetry } from '../plan/retry-run.ts';
import { actualState, goesOnByItself, isResumable, nextOfStopped, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';

type Codes = readonly Pick<CodeCount, 'outcome' | 'code'>[];

export function nextCommands(
  record: RunRecord,
  { codes, retries, retry_of: retryOf }: Pick<RunSummary, 'retries' | 'retry_of'> & { readonly codes: Codes },
): readonly string[] {
  const { id } = record;
  const state = actualState(record);
  if (goesOnByItself(record))
    return [`cqbatch ${state === 'paused' ? 'unpause' : 'status'} ${id}`, `cqbatch cancel ${id}`];
  if (isResumable(state)) return [nextOfStopped(record)];
  const isPartOfOthers = retryOf !== null && retries.length === 0;
  return [...retryCommand(id, codes), ...(isPartOfOthers ? [`cqbatch report ${id} --with-retries`] : [])];
}

/** Whether rows failed, and retries have left no row to retry. */
export async function isCured(
  store: RunStore,
  record: RunRecord,
  runs?: readonly RunRecord[],
): Promise<boolean> {
  try {
    const later = retriesAfter(retriesAmong(runs ?? (await store.list()), record), record);
    return later.length > 0 && !(await hasRowsToRetry(store, record, later));
  } catch {
    // Another run is damaged.
    return false;
  }
}
