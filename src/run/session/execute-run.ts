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
 * Takes a run from the state of its journal to its end, records each state of the run, and writes its report in any case.
 *
 * @throws a fatal error when the datastore or the disk fails; the state is then `failed`, if it could still be written, and the
 * run can be resumed. A busy error `RUN_LOCKED` when another process works on the run.
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

/** Works on a run, and reports to the observer. */
export async function observeRun(
  observer: RunObserver | undefined,
  { record, journal }: OpenRun,
  work: () => Promise<ExecutedRun>,
): Promise<ExecutedRun> {
  if (observer === undefined) return work();
  const { plan, states } = record;
  const run = observer.started(() => plan.rows - journal.finishedCount);
  try {
    // Rows that got a result during planning, such as invalid rows, are counted where the run starts.
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
 * Only a user who has seen the failures resumes a run that a guard has halted: the guards count from here on, and the canary is
 * not checked again.
 */
async function accepted(run: OpenRun): Promise<OpenRun> {
  const { record, journal } = run;
  if (!isHaltedByGuard(record)) return run;
  await journal.append([{ type: 'accepted' }]);
  const { canary } = record;
  return { ...run, record: { ...record, ...(canary && { canary: { ...canary, wentOn: true } }) } };
}

/** @throws a usage error when another datastore may hold rows of the run */
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
