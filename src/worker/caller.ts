import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import { steadyNow } from '../clock.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import type { RowWorker } from '../queue/row-worker.ts';
import { toHundredths } from '../rounding.ts';
import { withSpare } from './allotment.ts';
import { CallGate } from './call-gate.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { Exchange, WorkerFacts } from './exchange.ts';
import { haltReason, refusalReason } from './halt-reason.ts';
import { type PaceReport, startPacer } from './pacer.ts';
import { createRowProcessor, type WorkerEvent } from './row-processor.ts';
import { RowsInHand } from './rows-in-hand.ts';
import { type StartingPoint, usualConcurrency } from './steering.ts';
import { TrafficMeter } from './traffic-meter.ts';
import { startWatchedWorker } from './watched-worker.ts';

export interface CallerOptions {
  readonly datastore: Datastore;
  readonly rows: RowQueue;
  readonly client: ApiClient;
  /** Where the API is, normalised. */
  readonly baseUrl: string;
  /** How long an outage of the API is waited for, milliseconds; absent: without end. */
  readonly maxOutageMs?: number | undefined;
  /** Calls in flight at once, or as many as are good. */
  readonly concurrency: number | 'auto';
  /** Opens the exchange with other workers of the API; it is closed at the end. */
  readonly exchange: (facts: () => WorkerFacts) => Exchange;
  /** What an earlier run has learned of the API. */
  readonly learned?: StartingPoint | undefined;
  readonly log: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly onPace: (pace: PaceReport) => void;
  /** Called when no row can succeed: wrong token, wrong base URL, no permission, an API that is away for too long. */
  readonly onHalt: (reason: CqbatchError) => void;
  /** Called when a row can't be understood. */
  readonly onRefused: (reason: CqbatchError) => void;
  /** Called when it has come to a standstill that no error explains. */
  readonly onStuck: () => void;
  readonly onError: (error: Error) => void;
}

/** Calls the API for the rows of a queue, at the pace that the API permits. */
export interface Caller {
  /** Calls in flight. */
  readonly active: number;
  /** Claims no more rows; calls in flight go on. Takes effect at once. */
  pause(): void;
  /** Calls in flight are waited for until the deadline; then they are aborted and their rows go back. */
  stop(deadlineMs: number): Promise<void>;
}

export function startCaller(options: CallerOptions): Caller {
  const { datastore, rows, log, onError } = options;
  const wanted = options.concurrency === 'auto' ? undefined : options.concurrency;
  let concurrency = wanted ?? usualConcurrency;
  const mostInHand = (): number => wanted ?? withSpare(concurrency);
  /** Rows that are claimed at a time. */
  let inHand = mostInHand();
  const rowsInHand = new RowsInHand();
  const gate = new CallGate({ concurrency, spacingMs: 0 });
  const meter = new TrafficMeter();
  let worker: RowWorker | undefined;
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
    if (worker !== undefined) worker.concurrency = breaker.rowsInHand(inHand, mostInHand());
  }

  const pacer = startPacer({
    queue: rows,
    exchange: options.exchange(() => ({ active: gate.active, finished, concurrency })),
    meter,
    gate,
    concurrency: wanted,
    learned: options.learned,
    onPace(decided) {
      const pace = withOutage(decided, breaker, options.baseUrl);
      governed = pace.phase !== 'fixed';
      concurrency = pace.ownConcurrency;
      const most = mostInHand();
      const needed = rowsInHand.update(gate.takeBusiest(), most);
      inHand = pace.gatesKeep ? needed : most;
      setRowsInHand();
      logPace(log, pace, before);
      before = pace;
      options.onPace(pace);
    },
    onError,
  });
  const start = (): void => {
    if (paused) return;
    worker = startWatchedWorker(datastore, rows, {
      concurrency: breaker.rowsInHand(inHand, mostInHand()),
      process: createRowProcessor({
        client: options.client,
        gate,
        meter,
        breaker,
        governed: () => governed,
        log,
        onEvent(event) {
          if (event.type === 'finished') finished += 1;
          options.onEvent(event);
        },
        onHalt: (failure, path) => options.onHalt(refusalReason(options.baseUrl, path, failure)),
      }),
      log,
      onRefused: options.onRefused,
      onStuck: options.onStuck,
      onError,
    });
  };
  pacer.established.then(start).catch(onError);

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
      stopping ??= (worker?.stop(deadlineMs) ?? Promise.resolve()).finally(() => pacer.stop());
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
  const { rate, learned, concurrency, restUntil, phase, reason } = pace;
  log.info(
    {
      phase,
      reason,
      ...(rate !== undefined && { rate_per_s: toHundredths(rate) }),
      ...(learned !== undefined && { limit_per_s: toHundredths(learned) }),
      concurrency,
      ...(restUntil !== undefined && { wait_ms: Math.max(0, restUntil - steadyNow()) }),
    },
    'pace',
  );
}
