import type { Attribution } from '../../actor.ts';
import { steadyNow } from '../../clock.ts';
import { type Outcome, type OutcomeCounts, type RowResult, totalOf } from '../../domain.ts';
import { noticeableRestMs, type Pace } from '../../pace.ts';
import type { CallsInFlight } from '../../rate/traffic-meter.ts';
import type { WorkerEvent } from '../../worker/row-processor.ts';

/** What happens to a run, as it happens: for progress and logs, never for accounting. */
export type RunEvent =
  | { readonly type: 'finished'; readonly result: RowResult }
  | Exclude<WorkerEvent, { type: 'finished' }>
  | { readonly type: 'paused'; readonly paused: boolean; readonly attribution: Attribution };

/** Where a run stands, for drawing. */
export type ProgressSnapshot = ReturnType<Progress['snapshot']>;

/** Calls that the API has not answered for long. */
export interface StalledCalls extends CallsInFlight {
  /** When one is given up. */
  readonly timeoutMs: number;
}

const memorySeconds = 5;
/** Calls that take less than that keep nothing waiting. */
const stalledMs = 5_000;

export interface ProgressOptions {
  readonly rows: number;
  /** Counts before the run was started or resumed. */
  readonly counts: OutcomeCounts;
  /** When a call is given up. */
  readonly timeoutMs: number;
  /** The steady clock; for tests. */
  readonly now?: () => number;
}

/** Follows a run by what its workers tell. It is for drawing: the truth is in the journal. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #start: number;
  readonly #counts: Record<Outcome, number>;
  readonly #retrying = new Set<number>();
  /** Finished rows per second of the clock, newest last. */
  readonly #seconds: { readonly second: number; rows: number; lastAt: number }[] = [];
  #lastFinishedAt: number;
  #inFlight: { readonly calls: number; readonly oldestAt: number } | undefined;
  #waitUntil = 0;
  #paused = false;
  /** Workers on all machines that call this API, where others than this process may. */
  workers: number | undefined;
  #pace: Pace | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyNow;
    this.#start = this.#now();
    this.#lastFinishedAt = this.#start;
    this.#counts = { ...options.counts };
  }

  see(event: RunEvent): void {
    switch (event.type) {
      case 'finished':
        this.#finished(event.result);
        break;
      case 'retrying':
        this.#retrying.add(event.row);
        break;
      case 'throttled':
        this.#wait(this.#now() + event.waitMs);
        break;
      case 'paused':
        this.#paused = event.paused;
    }
  }

  /** @param inFlight calls of this process */
  seePace(pace: Pace, inFlight?: CallsInFlight): void {
    this.#pace = pace;
    this.#inFlight = inFlight && { calls: inFlight.calls, oldestAt: this.#now() - inFlight.oldestMs };
    const { restUntil = 0 } = pace;
    if (restUntil > this.#now() + noticeableRestMs) this.#wait(restUntil);
  }

  get pace(): Pace | undefined {
    return this.#pace;
  }

  #finished({ row, outcome }: RowResult): void {
    this.#counts[outcome] += 1;
    this.#retrying.delete(row);
    this.#lastFinishedAt = this.#now();
    const second = Math.floor(this.#lastFinishedAt / 1_000);
    const newest = this.#seconds.at(-1);
    if (newest?.second === second) {
      newest.rows += 1;
      newest.lastAt = this.#lastFinishedAt;
    } else this.#seconds.push({ second, rows: 1, lastAt: this.#lastFinishedAt });
    while ((this.#seconds[0]?.second ?? second) < second - memorySeconds) this.#seconds.shift();
  }

  #wait(until: number): void {
    this.#waitUntil = Math.max(this.#waitUntil, until);
  }

  snapshot() {
    const { rows } = this.#options;
    const done = totalOf(this.#counts);
    const rowsPerSecond = this.#throughput();
    const stalled = this.#stalled();
    return {
      /** Rows of the manifest. */
      rows,
      /** Rows with a result. */
      done,
      counts: { ...this.#counts } as OutcomeCounts,
      /** Rows finished per second, over the last seconds. */
      rowsPerSecond,
      /** How the API is called, once it is known. */
      ...(this.#pace !== undefined && { pace: this.#pace }),
      /** How long no row is called, from now on. */
      waitMs: Math.max(0, this.#waitUntil - this.#now()),
      /** Rows that wait for another attempt. */
      retrying: this.#retrying.size,
      ...(stalled !== undefined && { stalled }),
      /** Whether the run waits until a person wants it to go on. */
      paused: this.#paused,
      ...(this.workers !== undefined && { workers: this.workers }),
      ...(rowsPerSecond > 0 && { etaSeconds: (rows - done) / rowsPerSecond }),
      elapsedSeconds: (this.#now() - this.#start) / 1_000,
    };
  }

  /** Calls that keep everything waiting: nothing has finished for seconds. */
  #stalled(): StalledCalls | undefined {
    if (this.#inFlight === undefined) return undefined;
    const { calls, oldestAt } = this.#inFlight;
    const now = this.#now();
    if (now - Math.max(oldestAt, this.#lastFinishedAt) < stalledMs) return undefined;
    return { calls, oldestMs: now - oldestAt, timeoutMs: this.#options.timeoutMs };
  }

  /**
   * Results of other machines come a batch at a time. Those of the first second of the window only begin the time that is
   * measured: with them, it would have a batch more than belongs to it.
   */
  #throughput(): number {
    const now = this.#now();
    const from = now - memorySeconds * 1_000;
    const [first, ...others] = this.#seconds.filter(({ second }) => second >= Math.floor(from / 1_000));
    if (first === undefined) return 0;
    const isWhole = from <= this.#start;
    const rows = others.reduce((sum, each) => sum + each.rows, isWhole ? first.rows : 0);
    return (rows * 1_000) / Math.max(now - (isWhole ? this.#start : first.lastAt), 1_000);
  }
}
