import { steadyNow } from '../../base/async/clock.ts';
import type { CqbatchError } from '../../base/errors/errors.ts';
import type { Log } from '../../base/log.ts';
import {
  duringOutage,
  type Outage,
  type PaceReport,
  type StartingPoint,
  toHundredths,
} from '../../domain/pace.ts';
import type { ApiClient } from '../api/client.ts';
import type { Membership } from '../cluster/membership.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { CallGate } from '../rate/call-gate.ts';
import { CallScheduler } from '../rate/call-scheduler.ts';
import { LeaderLoop, type OwnCalls } from '../rate/leader-loop.ts';
import { usualConcurrency } from '../rate/rate-controller.ts';
import { TrafficMeter } from '../rate/traffic-meter.ts';
import { CircuitBreaker } from './breaker/circuit-breaker.ts';
import { haltReason, refusalReason } from './breaker/halt-reason.ts';
import { Prefetch, withSpare } from './prefetch.ts';
import { RefusedRows } from './refused-rows.ts';
import { RetryQuota } from './retry-quota.ts';
import { callOf, createRowProcessor, type WorkerEvent } from './row-processor.ts';
import { logTotals } from './totals.ts';
import { WatchedWorker } from './watched-worker.ts';

export interface ApiWorkerOptions {
  readonly operations: readonly Operation[];
  readonly datastore: Datastore;
  readonly rows: RowQueue;
  readonly client: ApiClient;
  /** The base URL of the API, normalized. */
  readonly baseUrl: string;
  readonly maxOutageMs?: number | undefined;
  /** Operations of which rows are known to have succeeded. */
  readonly proven?: Iterable<string> | undefined;
  /** The calls in flight at a time. `auto`: as many as the API bears. */
  readonly concurrency: number | 'auto';
  readonly membership: Membership;
  readonly startingPoint?: StartingPoint | undefined;
  readonly log: Log;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly onPace: (pace: PaceReport, own: OwnCalls) => void;
  /**
   * The worker can't continue: no row can succeed, a row can't be understood, or rows wait and none starts.
   *
   * @param rowToSee the place of a row at which the user must look before anything is called again
   */
  readonly onHalt: (reason: CqbatchError, rowToSee?: number) => void;
  readonly onError: (error: Error) => void;
}

/**
 * Calls the API for the rows of a queue, at the pace that the API permits.
 *
 * ```
 * starting ──(a pace is known)──▶ calling ──(pause)──▶ paused
 *    └────────────────(pause)────────────────────────────▲
 * ```
 *
 * - **starting**: nothing is claimed.
 * - **calling**: as many rows are claimed as are useful to have in hand; none while the API rests.
 * - **paused**: rows that wait for their call go back; calls in flight go on. `stop` waits for them.
 */
export class ApiWorker {
  readonly #options: ApiWorkerOptions;
  readonly #wantedConcurrency: number | undefined;
  readonly #gate: CallGate;
  readonly #meter = new TrafficMeter();
  readonly #breaker: CircuitBreaker;
  readonly #refusedRows = new RefusedRows();
  readonly #quota = new RetryQuota();
  readonly #leaderLoop: LeaderLoop;
  readonly #prefetch = new Prefetch();
  readonly #totals: ReturnType<typeof logTotals>;
  #state: 'starting' | 'calling' | 'paused' = 'starting';
  #worker: WatchedWorker | undefined;
  #stopping: Promise<void> | undefined;
  #concurrency: number;
  #mostInHand: number;
  #finishedRows = 0;
  #pace: PaceReport | undefined;

  constructor(options: ApiWorkerOptions) {
    const { membership, baseUrl, maxOutageMs, onError } = options;
    this.#options = options;
    this.#totals = logTotals(options.log);
    this.#wantedConcurrency = options.concurrency === 'auto' ? undefined : options.concurrency;
    this.#concurrency = this.#wantedConcurrency ?? usualConcurrency;
    this.#mostInHand = withSpare(this.#concurrency);
    const gate = new CallGate({
      scheduler: new CallScheduler({ concurrency: this.#wantedConcurrency, random: Math.random }),
      take: (request) => membership.take(request),
      onError,
    });
    this.#gate = gate;
    // Without this, the worker would claim batches whose rows the gate sends away, until the next pace.
    gate.onSendAway = () => this.#limitClaims();
    this.#meter.elsewhere = () => gate.elsewhere;
    this.#breaker = new CircuitBreaker({
      maxOutageMs,
      onChange: () => this.#limitClaims(),
      onHalt: (halt) => options.onHalt(haltReason(baseUrl, halt), halt.rowToSee),
    });
    this.#leaderLoop = new LeaderLoop({
      membership,
      facts: () => ({ finished: this.#finishedRows, concurrency: this.#concurrency, outage: this.#outage }),
      meter: this.#meter,
      gate,
      concurrency: this.#wantedConcurrency,
      startingPoint: options.startingPoint,
      onPace: (pace, own) => {
        const outage = this.#outage;
        const wait = this.#quota.wait(steadyNow());
        if (outage !== undefined) this.#adoptPace(duringOutage(pace, outage), own);
        else this.#adoptPace(wait === undefined ? pace : { ...pace, reason: wait.reason }, own);
      },
      onError,
    });
    this.#leaderLoop.established.then(() => this.#startCalling()).catch(onError);
  }

  get callsInFlight(): number {
    return this.#gate.active;
  }

  pause(): void {
    this.#state = 'paused';
    this.#worker?.pause();
    this.#gate.close();
    this.#breaker.close();
  }

  stop(deadlineMs: number): Promise<void> {
    this.pause();
    this.#stopping ??= (this.#worker?.stop(deadlineMs) ?? Promise.resolve())
      .finally(() => this.#totals.stop())
      .finally(() => this.#leaderLoop.stop());
    return this.#stopping;
  }

  #startCalling(): void {
    if (this.#state !== 'starting') return;
    this.#state = 'calling';
    const { datastore, rows, operations, client, baseUrl, proven, log } = this.#options;
    const { onHalt, onError } = this.#options;
    this.#worker = new WatchedWorker(datastore, rows, {
      concurrency: this.#prefetchLimit,
      prepare: (task, run) => callOf(task, run, operations),
      process: createRowProcessor({
        operations,
        proven,
        client,
        gate: this.#gate,
        meter: this.#meter,
        breaker: this.#breaker,
        refusedRows: this.#refusedRows,
        quota: this.#quota,
        isGoverned: () => this.#pace?.phase !== 'fixed',
        log,
        onEvent: (event) => this.#takeEvent(event),
        onHalt: (failure, { path, row }) =>
          onHalt(refusalReason(baseUrl, path, failure), failure.unclear ? row : undefined),
      }),
      log,
      isResting: () => this.#gate.isResting,
      onRefused: onHalt,
      onStuck: onHalt,
      onError,
    });
  }

  #takeEvent(event: WorkerEvent): void {
    this.#totals.count(event);
    if (event.type === 'finished') this.#finishedRows += 1;
    if (event.type === 'throttled') {
      if (event.waitMs > 0) this.#meter.noteAskedWait(event.waitMs);
      this.#limitClaims();
    }
    this.#options.onEvent(event);
  }

  #adoptPace(pace: PaceReport, own: OwnCalls): void {
    this.#concurrency = own.concurrency;
    this.#refusedRows.rowsLeft = own.rowsLeft;
    this.#quota.workers = own.workers;
    const most = withSpare(this.#concurrency);
    const needed = this.#prefetch.update(this.#gate.takeBusiest(), most);
    // The calls that the user wants are in hand at once, even if the rate needs fewer.
    this.#mostInHand = pace.isKept && this.#wantedConcurrency === undefined ? needed : most;
    this.#limitClaims();
    logPace(this.#options.log, pace, this.#pace);
    this.#pace = pace;
    this.#options.onPace(pace, own);
  }

  get #outage(): Outage | undefined {
    const { outage } = this.#breaker;
    if (outage === undefined) {
      const wait = this.#quota.wait(steadyNow());
      return this.#refusedRows.wait ?? (wait?.isAll ? wait : undefined);
    }
    const { trouble, testMs, lastedMs, leftMs } = outage;
    const { status, message } = trouble.failure;
    const why = status === undefined ? message : `${status} ${message}`;
    const reason = `${new URL(this.#options.baseUrl).host} is away: ${why}`;
    return { reason, testMs, away: { why, lastedMs, leftMs } };
  }

  /** The rows to have in hand. Rows that wait for their verdicts have freed their seats. */
  get #prefetchLimit(): number {
    return this.#breaker.prefetchLimit(
      this.#mostInHand,
      this.#wantedConcurrency ?? withSpare(this.#concurrency),
    );
  }

  /** Claims within the limits of gate and breaker; nothing while the API rests, because its rows would only be sent back. */
  #limitClaims(): void {
    if (this.#worker === undefined) return;
    this.#worker.resting = this.#gate.isResting;
    this.#worker.concurrency = this.#prefetchLimit;
  }
}

/** Logs changes of the pace, not each step of the governor. */
function logPace(log: Log, pace: PaceReport, lastPace: PaceReport | undefined): void {
  if (pace.phase === lastPace?.phase && pace.reason === lastPace.reason) return;
  const { rate, limit, concurrency, restUntil, restBy, phase, reason } = pace;
  log.info(
    {
      phase,
      reason,
      ...(rate !== undefined && { rate_per_s: toHundredths(rate) }),
      ...(limit !== undefined && { limit_per_s: toHundredths(limit) }),
      concurrency,
      ...(restUntil !== undefined && { wait_ms: Math.max(0, restUntil - steadyNow()), wait_by: restBy }),
    },
    'pace',
  );
}
