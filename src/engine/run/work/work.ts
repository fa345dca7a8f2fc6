import { withScope } from '../../../base/async/scope.ts';
import { after, unlessAborted } from '../../../base/async/waiting.ts';
import type { PaceReport, StartingPoint } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { Priority } from '../../../domain/terms.ts';
import type { ApiClient } from '../../api/client.ts';
import type { Membership } from '../../cluster/membership.ts';
import type { RatePolicy } from '../../cluster/rate-policy.ts';
import { usualConcurrency } from '../../rate/rate-controller.ts';
import type { CallsInFlight } from '../../rate/traffic-meter.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { ApiWorker } from '../../worker/api-worker.ts';
import { type EntriesNow, resultsOfChanged } from '../feed/changed-since.ts';
import { Coordinator, type StopReason } from '../feed/coordinator.ts';
import { FeedWindow } from '../feed/feed-window.ts';
import { resultsOfOvertaken } from '../feed/overtaken.ts';
import { keepsOrder } from '../feed/row-order.ts';
import type { FailureGuard, FailureHalt } from '../record/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { unfinishedRows } from '../record/run-journal.ts';
import { entriesNow } from './entries-now.ts';
import type { RunContext } from './execution-options.ts';
import { onStop, type Stops } from './on-stop.ts';
import type { RunEvent } from './progress.ts';
import type { Stages } from './stages.ts';

export interface SessionOptions extends RunContext, Stops {
  readonly rows: Pick<RowsFile, 'rows' | 'numbers' | 'head'>;
  readonly stages: Pick<Stages, 'tasks' | 'next'>;
  /** Workers on all machines. */
  readonly workers: () => number;
  /** Undefined: as fast as possible. */
  readonly rate: () => RatePolicy | undefined;
  readonly priority: () => Priority;
  readonly join: () => Membership;
  readonly known?: StartingPoint | undefined;
  readonly onEvent: (event: RunEvent) => void;
  readonly onPace: (pace: PaceReport, inFlight: CallsInFlight | undefined) => void;
  readonly onError: (error: Error) => void;
  /** Resolves when the rate of a run that continues is in force: feed no row before. */
  readonly rateInForce: () => Promise<void>;
}

/** The time for calls in flight when a run stops early. */
export const shutdownMs = 10_000;
const endedPollMs = 50;
const maintainEvery = 20_000;

/** From start or resume until the run is left: see `RunSession`. */
export class Work {
  readonly #run: OpenRun;
  readonly #options: SessionOptions;
  readonly #guard: FailureGuard;
  readonly #window: FeedWindow;
  #coordinator: Coordinator | undefined;
  /** Aborts when leaving must not wait for the datastore any longer. */
  readonly #givenUp: AbortSignal;
  #worker: ApiWorker | undefined;
  #sinceMaintenance = 0;

  constructor(run: OpenRun, options: SessionOptions, guard: FailureGuard, givenUp: AbortSignal) {
    this.#run = run;
    this.#options = options;
    this.#guard = guard;
    this.#givenUp = givenUp;
    const { concurrency } = run.record.options;
    this.#window = new FeedWindow({
      concurrency: concurrency === 'auto' ? usualConcurrency : concurrency,
      ratePerSecond: () => options.rate()?.perSecond,
      workers: options.workers,
      unfinished: () => unfinishedRows(run.record, run.journal),
    });
  }

  untilLeft(): Promise<StopReason> {
    const { record, lost } = this.#run;
    const { client, log, stages, priority, onError } = this.#options;
    return withScope(async (defer) => {
      const listed = await entriesNow(this.#run, this.#options, defer);
      if (listed !== undefined && 'state' in listed) return listed;
      const opening = Coordinator.open(this.#run, {
        uncalled: (held) => this.#uncalled(held, listed),
        tasks: stages.tasks(),
        window: this.#window,
        priority,
        onCollected: (results) => this.#collected(results),
        onError,
      });
      defer(() => this.#close(opening));
      const coordinator = await unlessAborted(opening, AbortSignal.any([lost, this.#givenUp]));
      if (coordinator === undefined) {
        lost.throwIfAborted();
        return { state: 'interrupted' };
      }
      this.#coordinator = coordinator;
      this.#haltIf(this.#guard.check());
      if (client !== undefined && coordinator.isFeeding) this.#worker = this.#startWorker(client);
      defer(onStop(this.#options, (reason) => this.#leave(reason)));
      const reason = await coordinator.run();
      if (reason.state === 'restart' && reason.hasLostRows)
        log.error(
          { run: record.id },
          'the datastore has lost rows, or may have: they are fed again and marked unclear',
        );
      return (
        (await unlessAborted(this.#finishLeaving(coordinator, reason), this.#givenUp)) ?? {
          state: 'interrupted',
        }
      );
    });
  }

  async *#uncalled(held: ReadonlySet<number>, listed: EntriesNow | undefined) {
    const { record, journal } = this.#run;
    const { rows } = this.#options;
    if (keepsOrder(record)) yield await resultsOfOvertaken(rows, journal, held);
    if (listed !== undefined) yield* resultsOfChanged(rows, journal, held, listed);
  }

  #leave(reason: StopReason): void {
    this.#worker?.pause();
    this.#coordinator?.end(reason);
  }

  async #finishLeaving(coordinator: Coordinator, reason: StopReason): Promise<StopReason> {
    const { record, journal, datastore } = this.#run;
    const { interrupt, handOver } = this.#options;
    const stopped = this.#worker?.stop(shutdownMs);
    const isInterrupted = reason.state === 'interrupted' && reason.because === undefined;
    // Otherwise, calls of other machines are drained while calls of this process end.
    if (datastore.exclusive || (isInterrupted && handOver)) await stopped;
    // An exclusive datastore is drained: the next run would not know which rows of this run were called.
    if (isInterrupted && handOver && !datastore.exclusive) return reason;
    // Calls of other machines may take as long as the user allows.
    const limit = isInterrupted ? AbortSignal.timeout(2 * shutdownMs) : interrupt;
    const [isThrough] = await Promise.all([coordinator.drain(limit), stopped]);
    // Another machine is still calling a row: the run can't end, but can be resumed.
    if (!isThrough) return { state: 'interrupted' };
    const isPointless = 'halt' in reason && unfinishedRows(record, journal) === 0;
    return isPointless ? { state: 'completed' } : reason;
  }

  async #close(opening: Promise<Coordinator>): Promise<void> {
    const { lost } = this.#run;
    const stopped = this.#worker?.stop(shutdownMs) ?? Promise.resolve();
    const closed = stopped.then(async () => (await opening).close());
    // BullMQ waits even for a lost or unreachable datastore; calls in flight still finish.
    await unlessAborted(closed, AbortSignal.any([lost, this.#givenUp]));
    const until = performance.now() + shutdownMs;
    while (lost.aborted && (this.#worker?.active ?? 0) > 0 && performance.now() < until)
      await after(endedPollMs);
  }

  #startWorker(client: ApiClient): ApiWorker {
    const { record, datastore, rows, store, journal } = this.#run;
    const { log, known, join, onEvent, onPace, onError } = this.#options;
    const { baseUrl, maxOutageMs, concurrency } = record.options;
    return new ApiWorker({
      datastore,
      rows,
      operations: store.operations,
      client,
      baseUrl,
      maxOutageMs,
      concurrency,
      membership: join(),
      known,
      log,
      onEvent: (event) => {
        if (event.run !== record.id) return;
        if (event.type !== 'finished') return onEvent(event);
        this.#window.finished();
        this.#haltIf(this.#guard.finished(event.result));
        // On a shared datastore a result counts once collected, like those of other machines.
        if (datastore.exclusive) onEvent(event);
      },
      onPace: (pace, { concurrency, inFlight }) => {
        this.#window.concurrency = concurrency;
        onPace(pace, inFlight);
      },
      proven: journal.provenOperations,
      onHalt: ({ message: reason }, rowToSee) =>
        this.#leave({
          state: 'halted',
          because: 'stuck',
          reason,
          ...(rowToSee !== undefined && { placeToSee: rowToSee }),
        }),
      onError,
    });
  }

  #haltIf(halt: FailureHalt | undefined): void {
    if (halt !== undefined) this.#leave({ state: 'halted', halt });
  }

  async #collected(results: readonly RowResult[]): Promise<void> {
    const { datastore } = this.#run;
    this.#haltIf(this.#guard.collected(results));
    if (!datastore.exclusive)
      for (const result of results) this.#options.onEvent({ type: 'finished', result });
    this.#sinceMaintenance += results.length;
    if (this.#sinceMaintenance < maintainEvery) return;
    this.#sinceMaintenance = 0;
    await datastore.maintain();
  }
}
