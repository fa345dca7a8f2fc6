import { unlessAborted } from '../../../base/async/waiting.ts';
import { ErrorThrottle } from '../../../base/errors/error-throttle.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { systemError } from '../../../base/errors/system-error.ts';
import type { Journal } from '../../journal/journal.ts';
import { decidedResult } from '../../rows/decided-result.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { claimForOurselves } from '../feed/reconcile.ts';
import { claimPlan } from '../plan/plan-use.ts';
import { type OpenRun, withOpenRun } from '../record/open-run.ts';
import { isHaltedByGuard, type RunRecord } from '../record/record.ts';
import { activeTime } from '../record/record-keeper.ts';
import { isIntact, outcomesOf, unfinishedRows } from '../record/run-journal.ts';
import { resultOf } from '../record/run-outcome.ts';
import { openRunRows, refuseOtherRequests, requireOperations } from '../record/run-rows.ts';
import { type RunReports, reportRun } from '../report/report-run.ts';
import { Execution } from './execution.ts';
import type { EndedExecution, ExecutedRun, ExecuteRunOptions, RunObserver } from './execution-options.ts';

/**
 * Takes a run from the state of its journal to its end, and writes its report.
 *
 * @throws a fatal error when the datastore or the disk fails: the state is then `failed`, if it could be written. If only the report can't
 *   be written, the run keeps its state. A busy error `RUN_LOCKED` when another process works on the run.
 */
export function executeRun(options: ExecuteRunOptions): Promise<ExecutedRun> {
  const { datastore, interrupt, log, record } = options;
  const errors = new ErrorThrottle();
  const onError = (error: Error): void => {
    if (errors.isNews(error)) log.warn({ run: record.id, err: error.message }, 'datastore error');
  };
  return withOpenRun({ ...options, purpose: `run ${options.record.id}` }, async (run, defer) => {
    requireOperations(options.store, options.record);
    const rows = await openRunRows(options.store, options.record);
    refuseOtherDatastore(options, run.journal);
    await refuseOtherRequests(options.store, rows, run.journal);
    await unlessAborted(claimForRun(options), interrupt);
    const { record, end, isHandedOver } = await observeRun(options.observer, run, rows, async () => {
      if (datastore.exclusive) await claimForOurselves(run, { signal: interrupt, onError });
      return new Execution(await accepted(run), options, rows).untilEnd(defer);
    });
    return isHandedOver ? { record, end } : { record, end, reports: await report(options, record, run) };
  });
}

/** @throws the error of writing the report, which says how to write the report again */
async function report(
  { store, onFailed }: ExecuteRunOptions,
  record: RunRecord,
  { journal }: OpenRun,
): Promise<RunReports> {
  const { id } = record;
  try {
    return await reportRun(store, record, journal);
  } catch (error) {
    const intact = await isIntact(store, id, journal);
    onFailed?.({ counts: outcomesOf(record, journal), intact, ended: true });
    throw systemError(error)?.followedBy(`cqbatch report ${id}`) ?? error;
  }
}

export async function observeRun(
  observer: RunObserver | undefined,
  { record, journal }: OpenRun,
  rows: Pick<RowsFile, 'rows'>,
  work: () => Promise<EndedExecution>,
): Promise<EndedExecution> {
  if (observer === undefined) return work();
  const run = observer.started(() => unfinishedRows(record, journal));
  try {
    // Rows that the plan has decided count where the run starts.
    if (!record.states.some(({ state }) => state === 'running') && record.plan.callable < record.plan.rows)
      for await (const part of rows.rows())
        observer.finished(part.flatMap((row) => decidedResult(row) ?? []));
    journal.onFinished = (results) => observer.finished(results);
    const ended = await work();
    const result = resultOf(ended.end, outcomesOf(record, journal));
    if (ended.isHandedOver) run.ended();
    else run.ended({ result, durationMs: activeTime(ended.record, journal.lastFinishedAt) });
    return ended;
  } catch (error) {
    run.ended({ result: 'failed' });
    throw error;
  }
}

/**
 * Only a user who has seen the failures resumes a run that a guard halted: the guards count from here on, and the canary is not checked
 * again.
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
  const remedy =
    record.queue === undefined
      ? 'leave out --queue, also in the environment and the configuration file'
      : `pass --queue ${record.queue}`;
  throw usageError(
    'OTHER_DATASTORE',
    `Rows of run ${record.id} are still in ${was}, the datastore of its last session: ${remedy}.`,
  );
}

async function claimForRun({ store, record }: ExecuteRunOptions): Promise<void> {
  if (record.planFile === undefined) return;
  // A run that is killed after the claim must know its key.
  await store.save(record);
  await claimPlan(store, record);
}
