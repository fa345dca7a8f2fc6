import { unlessAborted } from '../../../base/async/waiting.ts';
import { usageError } from '../../../base/errors/errors.ts';
import type { Journal } from '../../journal/journal.ts';
import { removeReport } from '../../report/write-reports.ts';
import { resultsOfOvertaken } from '../feed/overtaken.ts';
import { keepsOrder } from '../feed/row-order.ts';
import { claimPlan } from '../plan/plan-use.ts';
import { withOpenRun } from '../record/open-run.ts';
import { openRunRows, refuseOtherRequests, requireOperations } from '../record/run-rows.ts';
import { rememberSuccess, rememberUse } from '../record/targets.ts';
import { reportRun } from '../report/report-run.ts';
import { openComparison } from './comparison.ts';
import { clearControls, openControls } from './control.ts';
import { keepEstimate } from './estimated-limits.ts';
import { openRateLog } from './rate-log.ts';
import type { ExecutedRun, ExecuteRunOptions, OpenPart } from './run-in-progress.ts';
import { RunLoop } from './run-loop.ts';
import { openStages } from './stages.ts';

/**
 * Takes a run from the state of its journal to its end, and writes its report.
 *
 * @throws a fatal error when the datastore or the disk fails: the state is then `failed`, if it could be written. If only the report can't
 *   be written, the run keeps its state. A busy error `RUN_LOCKED` when another process works on the run.
 */
export function executeRun(options: ExecuteRunOptions): Promise<ExecutedRun> {
  const { store, record, interrupt } = options;
  return withOpenRun({ ...options, purpose: `run ${record.id}` }, async (run, defer) => {
    requireOperations(store, record);
    const rows = await openRunRows(store, record);
    refuseOtherDatastore(options, run.journal);
    await refuseOtherRequests(store, rows, run.journal);
    await unlessAborted(claimForRun(options), interrupt);
    // A user who starts the run by hand overrides earlier commands. The run does not show as running yet, so no later one is lost.
    if (!options.handOver) await clearControls(store.folder(record.id));
    return new RunLoop(run, rows, options, runParts).untilReported(defer);
  });
}

export const openOrder: OpenPart = ({ run: { record, journal }, rows }) => ({
  async *resultsWithoutCall(held) {
    if (keepsOrder(record)) yield await resultsOfOvertaken(rows, journal, held);
  },
});

/** Keeps what later runs can know of the API. Without it, they only ask or measure again, so a failed write does not end the run. */
const openApiKnowledge: OpenPart = async ({ run, options, progress, warn }) => {
  const { store, record, journal } = run;
  const { baseUrl } = record.options;
  const unwritten = (error: Error): void => warn(error, 'targets.json was not written');
  await rememberUse(store.stateDir, baseUrl).catch(unwritten);
  return {
    async finish() {
      const succeeded = store.operations.filter(({ name }) => journal.provenOperations.has(name));
      if (succeeded.length > 0) await rememberSuccess(store.stateDir, baseUrl, succeeded).catch(unwritten);
      const { pace } = progress;
      if (options.estimates !== undefined && pace !== undefined)
        await keepEstimate(options.estimates, pace).catch((error: Error) =>
          warn(error, 'the estimated limit was not saved'),
        );
    },
  };
};

/** Results between two calls of the datastore's maintenance. */
const resultsPerMaintenance = 20_000;

const openMaintenance: OpenPart = ({ run: { datastore }, onError }) => {
  let results = 0;
  return {
    seeEvent({ type }) {
      if (type === 'finished') results += 1;
      if (results < resultsPerMaintenance) return;
      results = 0;
      datastore.maintain().catch(onError);
    },
  };
};

const openReport: OpenPart = async ({ run: { store, record, journal } }) => {
  await removeReport(store.folder(record.id), 'not-attempted.csv');
  return { report: (ended) => reportRun(store, ended, journal) };
};

/** What takes part in a run, besides its record and its heartbeat. */
const runParts: readonly OpenPart[] = [
  openControls,
  openRateLog,
  openMaintenance,
  openApiKnowledge,
  openOrder,
  openComparison,
  openStages,
  openReport,
];

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
