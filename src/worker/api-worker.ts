import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { steadyNow } from '../clock.ts';
import type { Member } from '../cluster/member.ts';
import { toHundredths } from '../cluster/rate-policy.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import type { PaceReport, StartingPoint } from '../pace.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { CallGate } from '../rate/call-gate.ts';
import { CallScheduler } from '../rate/call-scheduler.ts';
import { type OwnCalls, startLeaderLoop } from '../rate/leader-loop.ts';
import { usualConcurrency } from '../rate/rate-controller.ts';
import { TrafficMeter } from '../rate/traffic-meter.ts';
import { ownTiming, sharedTiming } from '../rate/visit-timing.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { haltReason, refusalReason } from './halt-reason.ts';
import { Prefetch, withSpare } from './prefetch.ts';
import { createRowProcessor, refusal, type WorkerEvent } from './row-processor.ts';
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts';

export interface ApiWorkerOptions {
  readonly datastore: Datastore;
  readonly rows: RowQueue;
  readonly client: ApiClient;
  /** Where the API is, normalised. */
  readonly baseUrl: string;
  /** How long an outage of the API is waited for, milliseconds; absent: without end. */
  readonly maxOutageMs?: number | undefined;
  /** Calls in flight at once, or as many as are good. */
  readonly concurrency: number | 'auto';
  /** This worker among those of the API; it leaves them at the end. */
  readonly member: Member;
  /** What an earlier run has found of the API. */
  readonly known?: StartingPoint | undefined;
  readonly log: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly onPace: (pace: PaceReport, own: OwnCalls) => void;
  /** Called when no row can succeed: wrong token, wrong base URL, no permission, an API that is away for too long. */
  readonly onHalt: (reason: CqbatchError) => void;
  /** Called when a row can't be understood. */
  readonly onRefused: (reason: CqbatchError) => void;
  /** Called when it has come to a standstill that no error explains. */
  readonly onStuck: () => void;
  readonly onError: (error: Error) => void;
}

/** Calls the API for the rows of a queue, at the pace that the API permits. */
export interface ApiWorker {
  /** Calls in flight. */
  readonly active: number;
  /** Claims no more rows; calls in flight go on. Takes effect at once. */
  pause(): void;
  /** Calls in flight are waited for until the deadline; then they are aborted and their rows go back. */
  stop(deadlineMs: number): Promise<void>;
}

export function startApiWorker(options: ApiWorkerOptions): ApiWorker {
  const { datastore, rows, log, onError } = options;
  const wanted = options.concurrency === 'auto' ? undefined : options.concurrency;
  let concurrency = wanted ?? usualConcurrency;
  const mostInHand = (): number => withSpare(concurrency);
  /** Those that wait for their verdicts have left their places to others. */
  const mostUnproven = (): number => wanted ?? mostInHand();
  /** Rows in hand at a time. */
  let inHand = mostInHand();
  const prefetch = new Prefetch();
  const { member } = options;
  const timing = member.isShared ? sharedTiming : ownTiming;
  const gate = new CallGate({
    scheduler: new CallScheduler({ timing, concurrency: wanted, random: Math.random }),
    take: (request) => member.take(request),
    onError,
  });
  const meter = new TrafficMeter();
  meter.elsewhere = () => gate.elsewhere;
  let worker: WatchedWorker | undefined;
  let governed = true;
  let finished = 0;
  let paused = false;
  let before: PaceReport | undefined;

  const breaker = new CircuitBreaker({
    maxOutageMs: options.maxOutageMs,
    onChange: () => setRowsInHand(),
    onHalt: (halt) => options.onHalt(haltReason(options.baseUrl, halt)),
  });
  function setRowsInHand(): void {
    if (worker !== undefined) worker.concurrency = breaker.rowsInHand(inHand, mostUnproven());
  }

  const leaderLoop = startLeaderLoop({
    member,
    facts: () => ({ finished, concurrency }),
    meter,
    gate,
    concurrency: wanted,
    known: options.known,
    onPace(decided, own) {
      const pace = withOutage(decided, breaker, options.baseUrl);
      governed = pace.phase !== 'fixed';
      concurrency = own.concurrency;
      const most = mostInHand();
      const needed = prefetch.update(gate.takeBusiest(), most);
      // What the user wants in flight is in hand at once, however few the rate needs.
      inHand = pace.isKept && wanted === undefined ? needed : most;
      setRowsInHand();
      rest();
      logPace(log, pace, before);
      before = pace;
      options.onPace(pace, own);
    },
    onError,
  });
  /** While the API rests no rows are claimed: they would only be sent back. */
  function rest(): void {
    if (worker !== undefined) worker.resting = gate.isResting;
  }
  const start = (): void => {
    if (paused) return;
    worker = startWatchedWorker(datastore, rows, {
      concurrency: breaker.rowsInHand(inHand, mostUnproven()),
      refusal,
      process: createRowProcessor({
        client: options.client,
        gate,
        meter,
        breaker,
        governed: () => governed,
        log,
        onEvent(event) {
          if (event.type === 'finished') finished += 1;
          if (event.type === 'throttled') {
            if (event.waitMs > 0) meter.askedToWait(event.waitMs);
            rest();
          }
          options.onEvent(event);
        },
        onHalt: (failure, path) => options.onHalt(refusalReason(options.baseUrl, path, failure)),
      }),
      log,
      isResting: () => gate.isResting,
      onRefused: options.onRefused,
      onStuck: options.onStuck,
      onError,
    });
  };
  leaderLoop.established.then(start).catch(onError);

  const pause = (): void => {
    paused = true;
    worker?.pause();
    gate.close();
    breaker.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    get active() {
      return gate.active;
    },
    pause,
    stop(deadlineMs) {
      pause();
      stopping ??= (worker?.stop(deadlineMs) ?? Promise.resolve()).finally(() => leaderLoop.stop());
      return stopping;
    },
  };
}

/** While the API is away, that is all there is to say of its pace. */
function withOutage(pace: PaceReport, { outage }: CircuitBreaker, baseUrl: string): PaceReport {
  if (outage === undefined) return pace;
  const { failure } = outage.trouble;
  const why = failure.status === undefined ? failure.message : `${failure.status} ${failure.message}`;
  return {
    ...pace,
    phase: 'waiting',
    reason: `${new URL(baseUrl).host} is away: ${why}`,
    restUntil: steadyNow() + outage.testMs,
  };
}

/** Says when the governor does something else, not each step of it. */
function logPace(log: Logger, pace: PaceReport, before: PaceReport | undefined): void {
  if (pace.phase === before?.phase && pace.reason === before.reason) return;
  const { rate, limit, concurrency, restUntil, phase, reason } = pace;
  log.info(
    {
      phase,
      reason,
      ...(rate !== undefined && { rate_per_s: toHundredths(rate) }),
      ...(limit !== undefined && { limit_per_s: toHundredths(limit) }),
      concurrency,
      ...(restUntil !== undefined && { wait_ms: Math.max(0, restUntil - steadyNow()) }),
    },
    'pace',
  );
}
