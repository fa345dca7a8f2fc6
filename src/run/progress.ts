import { type Outcome, type OutcomeCounts, outcomes, type RowResult } from '../domain.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';

/** Where a run stands, for whoever draws it. */
export interface ProgressSnapshot {
  /** Rows of the manifest. */
  readonly total: number;
  /** Rows with a result. */
  readonly done: number;
  readonly counts: OutcomeCounts;
  /** Rows finished per second, over the last seconds. */
  readonly ratePerSecond: number;
  /** How fast the API may be called at the moment, if that is limited. */
  readonly pace?: ProgressPace;
  /** How long no row is called, from now on. */
  readonly waitMs: number;
  /** Rows that wait for another attempt. */
  readonly retrying: number;
  /** Calls that keep everything waiting: nothing has finished for seconds. */
  readonly stalled?: StalledCalls;
  /** Whether the run waits until somebody wants it to go on. */
  readonly paused: boolean;
  /** Workers on all machines that call this API, where others than this process may. */
  readonly workers?: number;
  readonly etaSeconds?: number;
  readonly elapsedSeconds: number;
}

/** Calls that nobody has answered for long. */
export interface StalledCalls extends CallsInFlight {
  /** When one is given up. */
  readonly timeoutMs: number;
}

/** How fast the API may be called, for whoever draws it. */
export interface ProgressPace {
  /** Calls per second. */
  readonly allowedPerSecond: number;
  /** The limit of the API, if it has been found or told. */
  readonly limitPerSecond?: number;
  /** Why it is so; absent when the user asked for it. */
  readonly reason?: string;
}

const memorySeconds = 5;
/** Shorter than that, a quiet moment is none. */
const stalledMs = 5_000;

export interface ProgressOptions {
  readonly total: number;
  /** Counts before the run was started or resumed. */
  readonly counts: OutcomeCounts;
  /** When a call is given up. */
  readonly timeoutMs: number;
  /** Monotonic milliseconds; for tests. */
  readonly now?: () => number;
}

/** Follows a run by what its worker tells. It is for drawing: the truth is in the journal. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #start: number;
  readonly #counts: Record<Outcome, number>;
  readonly #retrying = new Set<number>();
  /** Finished rows per second of the clock, newest last. */
  readonly #seconds: { second: number; rows: number }[] = [];
  #lastFinishedAt: number;
  #inFlight: { readonly calls: number; readonly oldestAt: number } | undefined;
  #waitUntil = 0;
  #paused = false;
  #workers: number | undefined;
  #pace: ProgressPace | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#start = this.#now();
    this.#lastFinishedAt = this.#start;
    this.#counts = { ...options.counts };
  }

  finished({ row, outcome }: RowResult): void {
    this.#counts[outcome] += 1;
    this.#retrying.delete(row);
    this.#lastFinishedAt = this.#now();
    const second = Math.floor(this.#lastFinishedAt / 1_000);
    const newest = this.#seconds.at(-1);
    if (newest?.second === second) newest.rows += 1;
    else this.#seconds.push({ second, rows: 1 });
    while ((this.#seconds[0]?.second ?? second) < second - memorySeconds) this.#seconds.shift();
  }

  inFlight(calls: CallsInFlight | undefined): void {
    this.#inFlight = calls && { calls: calls.calls, oldestAt: this.#now() - calls.oldestMs };
  }

  retrying(row: number): void {
    this.#retrying.add(row);
  }

  throttled(waitMs: number): void {
    this.#waitUntil = Math.max(this.#waitUntil, this.#now() + waitMs);
  }

  pause(paused: boolean): void {
    this.#paused = paused;
  }

  pace(pace: ProgressPace | undefined): void {
    this.#pace = pace;
  }

  workers(workers: number): void {
    this.#workers = workers;
  }

  snapshot(): ProgressSnapshot {
    const { total } = this.#options;
    const done = outcomes.reduce((sum, outcome) => sum + this.#counts[outcome], 0);
    const elapsedSeconds = (this.#now() - this.#start) / 1_000;
    const ratePerSecond = this.#rate();
    const stalled = this.#stalled();
    return {
      total,
      done,
      counts: { ...this.#counts },
      ratePerSecond,
      ...(this.#pace !== undefined && { pace: this.#pace }),
      waitMs: Math.max(0, this.#waitUntil - this.#now()),
      retrying: this.#retrying.size,
      ...(stalled !== undefined && { stalled }),
      paused: this.#paused,
      ...(this.#workers !== undefined && { workers: this.#workers }),
      ...(ratePerSecond > 0 && { etaSeconds: (total - done) / ratePerSecond }),
      elapsedSeconds,
    };
  }

  #stalled(): StalledCalls | undefined {
    if (this.#inFlight === undefined) return undefined;
    const { calls, oldestAt } = this.#inFlight;
    const now = this.#now();
    if (now - Math.max(oldestAt, this.#lastFinishedAt) < stalledMs) return undefined;
    return { calls, oldestMs: now - oldestAt, timeoutMs: this.#options.timeoutMs };
  }

  #rate(): number {
    const now = this.#now() / 1_000;
    const from = Math.max(now - memorySeconds, this.#start / 1_000);
    const rows = this.#seconds.reduce(
      (sum, { second, rows: n }) => (second >= Math.floor(from) ? sum + n : sum),
      0,
    );
    return rows / Math.max(now - Math.floor(from), 1);
  }
}
