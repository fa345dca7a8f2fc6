import { steadyNow } from '../../../base/async/clock.ts';
import type { Pace } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { type Outcome, type OutcomeCounts, totalOf } from '../../../domain/terms.ts';
import type { CallsInFlight } from '../../rate/traffic-meter.ts';
import { recordedPace } from '../../report/rate-history.ts';
import type { WorkerEvent } from '../../worker/row-processor.ts';
import type { OwnRunFigures } from '../facts/make-facts.ts';
import type { StalledCalls } from '../facts/run-facts.ts';
import type { RunPause } from '../record/ending.ts';

/** What happens to rows, for progress and logs, never for accounting. */
export type RowEvent =
  | { readonly type: 'finished'; readonly result: RowResult }
  | Exclude<WorkerEvent, { type: 'finished' }>
  | { readonly type: 'paused'; readonly paused: boolean; readonly attribution: Omit<RunPause, 'state'> };

const rowEventTypes: readonly string[] = [
  'finished',
  'retrying',
  'throttled',
  'returned',
  'paused',
] satisfies RowEvent['type'][];

export function isRowEvent(event: { readonly type: string }): event is RowEvent {
  return rowEventTypes.includes(event.type);
}

const memorySeconds = 5;
const stalledMs = 5_000;
const unservedMs = 5_000;

export interface ProgressOptions {
  readonly rows: number;
  /** The results that rows had when the session started, counted by outcome. */
  readonly counts: OutcomeCounts;
  readonly timeoutMs: number;
  readonly now?: () => number;
}

/** Follows a run by the events of its workers, for drawing only. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #start: number;
  readonly #counts: Record<Outcome, number>;
  readonly #retrying = new Set<number>();
  /** Rows finished in each of the last seconds, the newest second last. */
  readonly #seconds: { readonly second: number; rows: number; lastAt: number }[] = [];
  #lastFinishedAt: number;
  #inFlight: { readonly calls: number; readonly oldestAt: number } | undefined;
  #paused = false;
  #pauseReason: string | undefined;
  #workers: number | undefined;
  #unservedSince: number | undefined;
  #isUnserved = false;
  #pace: Pace | undefined;
  /** Which runs are called before this one: see `runAhead`. */
  ahead: string | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? steadyNow;
    this.#start = this.#now();
    this.#lastFinishedAt = this.#start;
    this.#counts = { ...options.counts };
  }

  see(event: RowEvent): void {
    switch (event.type) {
      case 'finished':
        this.#finished(event.result);
        break;
      case 'retrying':
        this.#retrying.add(event.row);
        break;
      case 'paused':
        this.#paused = event.paused;
        this.#pauseReason = event.attribution.reason;
    }
  }

  /** @param inFlight of this process */
  seePace(pace: Pace, inFlight?: CallsInFlight): void {
    this.#pace = pace;
    this.#inFlight = inFlight && { calls: inFlight.calls, oldestAt: this.#now() - inFlight.oldestMs };
  }

  get pace(): Pace | undefined {
    return this.#pace;
  }

  /** Workers on all machines; undefined when only this process can call the API. */
  get workers(): number | undefined {
    return this.#workers;
  }

  /** `unserved` when rows have waited for a worker for seconds, then `served` when a worker has come. */
  seeWorkers(workers: number): 'served' | 'unserved' | undefined {
    this.#workers = workers;
    const wasUnserved = this.#isUnserved;
    this.#unservedSince = workers > 0 || this.#paused ? undefined : (this.#unservedSince ?? this.#now());
    if (workers > 0) this.#isUnserved = false;
    else if (this.#unservedSince !== undefined)
      this.#isUnserved ||= this.#now() - this.#unservedSince >= unservedMs;
    if (this.#isUnserved === wasUnserved) return undefined;
    return wasUnserved ? 'served' : 'unserved';
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

  /** See `progressOfWork`, which makes progress of these figures. */
  snapshot(): OwnRunFigures {
    return {
      rows: this.#options.rows,
      done: totalOf(this.#counts),
      counts: { ...this.#counts },
      rowsPerSecond: this.#throughput(),
      retrying: this.#retrying.size,
      pace: this.#pace && recordedPace(this.#pace),
      stalled: this.#stalled(),
      paused: this.#paused,
      pauseReason: this.#paused ? this.#pauseReason : undefined,
      workers: this.#workers,
      isUnserved: this.#isUnserved,
      ahead: this.ahead,
    };
  }

  /** Calls that have hung for seconds. Undefined unless nothing has finished for seconds. */
  #stalled(): StalledCalls | undefined {
    if (this.#inFlight === undefined) return undefined;
    const { calls, oldestAt } = this.#inFlight;
    const now = this.#now();
    if (now - Math.max(oldestAt, this.#lastFinishedAt) < stalledMs) return undefined;
    return { calls, oldestMs: now - oldestAt, timeoutMs: this.#options.timeoutMs };
  }

  /**
   * Results of other machines arrive in batches. The first second of the window only starts the measured time: its rows may belong to
   * earlier seconds.
   */
  #throughput(): number {
    const now = this.#now();
    const from = now - memorySeconds * 1_000;
    const [first, ...later] = this.#seconds.filter(({ second }) => second >= Math.floor(from / 1_000));
    if (first === undefined) return 0;
    const isWhole = from <= this.#start;
    const rows = later.reduce((sum, each) => sum + each.rows, isWhole ? first.rows : 0);
    return (rows * 1_000) / Math.max(now - (isWhole ? this.#start : first.lastAt), 1_000);
  }
}
