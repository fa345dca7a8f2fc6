import { BusyError } from '../../../base/errors/errors.ts';
import type { Attribution } from '../../../domain/actor.ts';
import { isActive } from '../../cluster/entries.ts';
import type { Budget } from '../record/budget.ts';
import { lockRun } from '../record/open-run.ts';
import { actualState, enterState, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { clearControls } from './control.ts';

/** What became of a stopped run that a user wants to hand to a daemon. */
export type Resubmission =
  | { readonly result: 'submitted'; readonly record: RunRecord }
  /** The run has changed since its record was loaded, and is left as it is. */
  | { readonly result: 'changed'; readonly record: RunRecord }
  /** Another process works on the run. */
  | { readonly result: 'in use'; readonly error: BusyError };

export interface ResubmitOptions {
  /** What the user changes, such as options. */
  readonly changes?: Partial<RunRecord>;
  readonly budget: Budget | undefined;
  readonly attribution: Attribution;
}

/**
 * Hands a stopped run to a daemon, which continues it like `resume`. The lock of the run keeps other processes away until the record says
 * `submitted`; a process that is killed before leaves the run stopped.
 *
 * The record keeps its queue: another datastore must not take over rows that are still there.
 *
 * @param seen the record of the stopped run, as the user knows it
 */
export async function resubmitRun(
  store: RunStore,
  seen: RunRecord,
  { changes, budget, attribution }: ResubmitOptions,
): Promise<Resubmission> {
  const { id } = seen;
  const folder = store.folder(id);
  const lock = await lockRun(folder, id, `submit ${id}`).catch((error: unknown) => {
    if (error instanceof BusyError) return error;
    throw error;
  });
  if (lock instanceof BusyError) return { result: 'in use', error: lock };
  try {
    const record = await store.load(id);
    const isAsSeen = record.states.length === seen.states.length && actualState(record) === actualState(seen);
    if (!isAsSeen) return { result: 'changed', record };
    // Like a user who resumes the run: earlier commands no longer count.
    await clearControls(folder);
    const stopped = isActive(record.state)
      ? enterState(record, 'interrupted', { reason: 'its process died' })
      : record;
    const { budget: _, ...kept } = { ...stopped, ...changes };
    const resubmitted = enterState(
      { ...kept, submitted: true, ...(budget && { budget }) },
      'submitted',
      attribution,
    );
    await store.save(resubmitted);
    return { result: 'submitted', record: resubmitted };
  } finally {
    await lock.release();
  }
}
