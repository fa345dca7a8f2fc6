import { after, onAbort, unlessAborted } from '../../../base/async/waiting.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import type { ApiWorker } from '../../worker/api-worker.ts';
import type { Coordinator, StopReason } from '../feed/coordinator.ts';
import type { OpenRun } from '../record/open-run.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import type { RunInProgress } from './run-in-progress.ts';

/** The time for calls in flight when a run stops early. */
export const shutdownMs = 10_000;

/** Aborts when the user wants to stop and a shared datastore does not answer in time. */
export function whenStopIsOverdue(datastore: Datastore, interrupt: AbortSignal): AbortSignal {
  const givingUp = new AbortController();
  const watch = async (): Promise<void> => {
    // Calls in flight may take one such time, and draining a second one; with an unreachable datastore, neither ends.
    for (let waited = 0; waited < 3; waited += 1) {
      await after(shutdownMs);
      if (datastore.trouble !== undefined) break;
    }
    givingUp.abort();
  };
  if (!datastore.exclusive) onAbort(interrupt, watch);
  return givingUp.signal;
}

/**
 * After the feeding: lets calls in flight end, and takes back what the datastore holds.
 *
 * @returns why the run stops, after what was found meanwhile
 */
export async function drain(
  { run: { record, journal, datastore }, options: { interrupt, handOver } }: RunInProgress,
  coordinator: Coordinator,
  worker: ApiWorker | undefined,
  reason: StopReason,
): Promise<StopReason> {
  const stopped = worker?.stop(shutdownMs);
  const isInterrupted = reason.state === 'interrupted' && reason.because === undefined;
  // On a shared datastore, calls of other machines are drained while calls of this process end.
  if (datastore.exclusive || (isInterrupted && handOver)) await stopped;
  // An exclusive datastore is drained: the next run would not know which rows of this run were called.
  if (isInterrupted && handOver && !datastore.exclusive) return reason;
  // Calls of other machines may take as long as the user allows.
  const limit = isInterrupted ? AbortSignal.timeout(2 * shutdownMs) : interrupt;
  const [isThrough] = await Promise.all([coordinator.drain(limit), stopped]);
  // Another machine is still calling a row: the run can't end, but can be resumed.
  if (!isThrough) return { state: 'interrupted' };
  const isPointless = reason.state === 'halt' && unfinishedRows(record, journal) === 0;
  return isPointless ? { state: 'completed' } : reason;
}

const endedPollMs = 50;

/** @param givenUp aborts when a stop must not wait for the datastore any longer */
export async function closeWork(
  { lost }: Pick<OpenRun, 'lost'>,
  {
    opening,
    worker,
    givenUp,
  }: {
    readonly opening: Promise<Coordinator>;
    readonly worker: ApiWorker | undefined;
    readonly givenUp: AbortSignal;
  },
): Promise<void> {
  const stopped = worker?.stop(shutdownMs) ?? Promise.resolve();
  const closed = stopped.then(async () => (await opening).close());
  // BullMQ waits even for a lost or unreachable datastore; calls in flight still finish.
  await unlessAborted(closed, AbortSignal.any([lost, givenUp]));
  const until = performance.now() + shutdownMs;
  while (lost.aborted && (worker?.callsInFlight ?? 0) > 0 && performance.now() < until)
    await after(endedPollMs);
}
