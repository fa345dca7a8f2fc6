import { join } from 'node:path';
import { steadyNow } from '../../../base/async/clock.ts';
import { writeFileAtomically } from '../../../base/disk/files.ts';
import { noticeableRestMs, type PaceReport, toHundredths } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import {
  type RateHistory,
  type RatePoint,
  rateHistoryFile,
  readRateHistory,
  recordedPace,
} from '../../report/rate-history.ts';
import type { OpenPart } from './run-in-progress.ts';

const sampleMs = 1_000;
/** A shorter rest at the end gets no point: it includes calls that were accepted earlier. */
const leastPointMs = 500;
const saveMs = 5_000;
const mostPoints = 600;
/** A larger difference between the clocks means that the clock was set or the process suspended. */
const leastGapMs = 2_000;

/** Writes down how fast the run is called. */
export const openRateLog: OpenPart = async ({ run: { record, store } }, defer) => {
  const log = await RateLog.open(store.folder(record.id), record.options.rate?.text ?? 'none');
  defer(() => log.close());
  return {
    seeEvent(event) {
      if (event.type === 'pace') log.see(event.pace);
      else if (event.type === 'finished') log.seeResult(event.result);
      else if (event.type === 'paused') log.paused = event.paused;
      else if (event.type === 'delayed') log.delay = event.reason;
      else if (event.type === 'rate set') log.wanted = event.change.rate?.text ?? 'none';
      else if (event.type === 'lost') log.abandon();
    },
    finish: () => log.close(),
  };
};

/** The rate of a run over time, in `rate.json`. A process continues what the process before has written. */
export class RateLog {
  readonly #path: string;
  wanted: string;
  delay: string | undefined;
  #series: RatePoint[];
  readonly #starts: { readonly t_s: number; readonly at: string }[];
  #seconds: number;
  #waited: number;
  #rejected: number;
  #pace: PaceReport | undefined;
  #lastTotals: { readonly accepted: number; readonly rejected: number; readonly at: number } | undefined;
  /** The called rows that have finished since the last sample. */
  #rows = 0;
  #isPaused = false;
  #savedAt = 0;
  #savedPace: PaceReport | undefined;
  #pendingSave = Promise.resolve();
  #isClosed = false;
  readonly #timer: NodeJS.Timeout;

  private constructor(path: string, wanted: string, history: RateHistory | undefined) {
    this.#path = path;
    this.wanted = wanted;
    this.#series = [...(history?.series ?? [])];
    this.#starts = [...(history?.starts ?? [])];
    this.#seconds = this.#series.at(-1)?.t_s ?? 0;
    this.#waited = history?.waited_s ?? 0;
    this.#rejected = history?.rejected ?? 0;
    this.#timer = setInterval(() => this.#sample(), sampleMs);
    this.#timer.unref();
  }

  static async open(folder: string, wanted: string): Promise<RateLog> {
    return new RateLog(join(folder, rateHistoryFile), wanted, await readRateHistory(folder));
  }

  /** Tells whether the run is paused: paused time is left out of the log. */
  set paused(paused: boolean) {
    this.#sample();
    this.#lastTotals = undefined;
    this.#isPaused = paused;
  }

  see(pace: PaceReport): void {
    if (this.#isPaused) return;
    this.#pace = pace;
    this.#lastTotals ??= { accepted: pace.accepted, rejected: pace.rejected, at: performance.now() };
  }

  seeResult({ attempts }: Pick<RowResult, 'attempts'>): void {
    if (attempts > 0) this.#rows += 1;
  }

  abandon(): void {
    clearInterval(this.#timer);
    this.#pace = undefined;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearInterval(this.#timer);
      if (!this.#sample()) this.#save();
    }
    await this.#pendingSave;
  }

  /** @returns whether a change was saved */
  #sample(): boolean {
    const pace = this.#pace;
    const last = this.#lastTotals;
    if (pace === undefined || last === undefined) return false;
    const at = performance.now();
    const seconds = (at - last.at) / 1_000;
    if (seconds < 0.1) return false;
    this.#recordStart(Date.now() - seconds * 1_000);
    const rejected = Math.max(0, pace.rejected - last.rejected);
    this.#seconds += seconds;
    this.#rejected += rejected;
    const rests = pace.phase === 'waiting' || (pace.restUntil ?? 0) - steadyNow() > noticeableRestMs;
    const waits = rests || (this.delay !== undefined && pace.accepted <= last.accepted);
    if (waits) this.#waited += seconds;
    this.#series.push({
      t_s: toHundredths(this.#seconds),
      allowed_per_s: pace.rate === undefined ? null : toHundredths(pace.rate),
      accepted_per_s: toHundredths(Math.max(0, pace.accepted - last.accepted) / seconds),
      ...(this.#rows > 0 && { rows_per_s: toHundredths(this.#rows / seconds) }),
      rejected,
      ...(waits && { waited_s: toHundredths(seconds), reason: this.delay ?? pace.reason }),
    });
    this.#rows = 0;
    if (seconds * 1_000 < leastPointMs) this.#joinLast();
    if (this.#series.length > mostPoints) this.#series = thinnedSeries(this.#series);
    this.#lastTotals = { accepted: pace.accepted, rejected: pace.rejected, at };
    if (at - this.#savedAt < saveMs && !isMisleading(pace, this.#savedPace)) return false;
    this.#savedAt = at;
    this.#savedPace = pace;
    this.#save();
    return true;
  }

  /** Records the time of day, unless it follows from the last record. */
  #recordStart(atMs: number): void {
    const last = this.#starts.at(-1);
    const t_s = toHundredths(this.#seconds);
    const expectedMs = last && Date.parse(last.at) + (t_s - last.t_s) * 1_000;
    if (expectedMs !== undefined && Math.abs(atMs - expectedMs) < leastGapMs) return;
    this.#starts.push({ t_s, at: new Date(atMs).toISOString() });
  }

  #joinLast(): void {
    const start = this.#series.at(-3)?.t_s ?? 0;
    const [first, second] = this.#series.slice(-2);
    if (first !== undefined && second !== undefined)
      this.#series.splice(-2, 2, joinedPoint(start, first, second));
  }

  #save(): void {
    const pace = this.#pace;
    if (pace === undefined) return;
    const history: RateHistory = {
      version: 1,
      wanted: this.wanted,
      ...recordedPace(pace),
      waited_s: Math.round(this.#waited),
      rejected: this.#rejected,
      seen_at: new Date().toISOString(),
      series: this.#series,
      starts: this.#starts,
    };
    // A failed write needs no message: the journal reports a full disk.
    this.#pendingSave = this.#pendingSave
      .then(() => writeFileAtomically(this.#path, `${JSON.stringify(history)}\n`))
      .catch(() => {});
  }
}

/** Whether a new pace must be saved at once: its reason differs, or its rate is at least twice or at most half as high. */
function isMisleading({ reason, rate = Number.POSITIVE_INFINITY }: PaceReport, saved?: PaceReport): boolean {
  const { reason: savedReason, rate: savedRate = Number.POSITIVE_INFINITY } = saved ?? {};
  return reason !== savedReason || (rate !== savedRate && (rate >= 2 * savedRate || rate <= savedRate / 2));
}

function thinnedSeries(series: readonly RatePoint[]): RatePoint[] {
  return series.flatMap((first, index) => {
    if (index % 2 === 1) return [];
    const second = series[index + 1];
    return [second === undefined ? first : joinedPoint(series[index - 1]?.t_s ?? 0, first, second)];
  });
}

function joinedPoint(start: number, first: RatePoint, second: RatePoint): RatePoint {
  const [one, other] = [first.t_s - start, second.t_s - first.t_s];
  const meanOf = (ofFirst: number, ofSecond: number) =>
    toHundredths((ofFirst * one + ofSecond * other) / Math.max(one + other, 0.001));
  const rows = meanOf(first.rows_per_s ?? 0, second.rows_per_s ?? 0);
  const waits = [first.waited_s ?? 0, second.waited_s ?? 0] as const;
  const waited = waits[0] + waits[1];
  const reason = waits[1] > waits[0] ? second.reason : first.reason;
  return {
    t_s: second.t_s,
    allowed_per_s:
      first.allowed_per_s === null || second.allowed_per_s === null
        ? null
        : toHundredths((first.allowed_per_s + second.allowed_per_s) / 2),
    accepted_per_s: meanOf(first.accepted_per_s, second.accepted_per_s),
    ...(rows > 0 && { rows_per_s: rows }),
    rejected: first.rejected + second.rejected,
    ...(waited > 0 && { waited_s: toHundredths(waited) }),
    ...(reason !== undefined && { reason }),
  };
}
