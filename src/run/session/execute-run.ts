import { usageError } from '../../errors.ts';
import type { Journal } from '../../journal/journal.ts';
import { claimForOurselves } from '../feed/stopped-runs.ts';
import { openManifestCopy } from '../plan/run-manifest.ts';
import { resultOf } from '../record/ending.ts';
import { type OpenRun, withOpenRun } from '../record/open-run.ts';
import { isHaltedByGuard } from '../record/record.ts';
import { activeTime } from '../record/record-keeper.ts';
import { Execution } from './execution.ts';
import type { ExecutedRun, ExecuteRunOptions, RunObserver } from './execution-options.ts';

/**
 * Takes a run from where its journal stands to its end, records each state that it enters, and writes its report,
 * whatever the end is.
 *
 * @throws a fatal error when the datastore or the disk fails; the run is then in state `failed`, if that could still
 *   be written, and can be resumed. A busy error `RUN_LOCKED` when another process works on it.
 */
export function executeRun(options: ExecuteRunOptions): Promise<ExecutedRun> {
  const { record, datastore, interrupt } = options;
  return withOpenRun({ ...options, purpose: `run ${record.id}` }, async (run, atEnd) => {
    const planned = await openManifestCopy(options.store, record);
    refuseOtherDatastore(options, run.journal);
    return observeRun(options.observer, run, async () => {
      if (datastore.exclusive) await claimForOurselves(run, interrupt);
      return new Execution(await accepted(run), options, planned).untilEnd(atEnd);
    });
  });
}

/** Does the work on a run, and tells of it. */
export async function observeRun(
  observer: RunObserver | undefined,
  { record, journal }: OpenRun,
  work: () => Promise<ExecutedRun>,
): Promise<ExecutedRun> {
  if (observer === undefined) return work();
  const { plan, states } = record;
  const run = observer.started(() => plan.rows - journal.finishedCount);
  try {
    // What had its result when it was planned, invalid rows among it, counts where the run begins.
    if (!states.some(({ state }) => state === 'running'))
      for await (const results of journal.results()) observer.finished(results);
    journal.onFinished = (results) => observer.finished(results);
    const executed = await work();
    const { end, reports } = executed;
    const result = resultOf(end, journal.outcomeCounts);
    if (reports === undefined) run.ended();
    else run.ended({ result, durationMs: activeTime(executed.record, journal.lastFinishedAt) });
    return executed;
  } catch (error) {
    run.ended({ result: 'failed' });
    throw error;
  }
}

/**
 * A run that a guard has halted goes on only when a person wants it to, who has seen what failed: the guards count from here
 * on, and its canary is not asked about again.
 */
async function accepted(run: OpenRun): Promise<OpenRun> {
  const { record, journal } = run;
  if (!isHaltedByGuard(record)) return run;
  await journal.append([{ type: 'accepted' }]);
  const { canary } = record;
  return { ...run, record: { ...record, ...(canary && { canary: { ...canary, wentOn: true } }) } };
}

/** @throws a usage error when rows of the run may be in a datastore that is not the one at hand. */
function refuseOtherDatastore({ record, queue }: ExecuteRunOptions, journal: Journal): void {
  const held = !journal.unsettledRows()[Symbol.iterator]().next().done;
  if (!held || record.queue === queue) return;
  const was = record.queue === undefined ? 'the embedded datastore' : record.queue;
  const remedy = record.queue === undefined ? 'leave out --queue' : `pass --queue ${record.queue}`;
  throw usageError(
    'OTHER_DATASTORE',
    `Rows of run ${record.id} are still in ${was}, the datastore of its last session: ${remedy}.`,
  );
}
