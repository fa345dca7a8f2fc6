import { counted, duration } from '../../../base/text/format.ts';
import type { PageData, PageStop } from '../../../engine/report/html/page-data.ts';
import type { Band } from './chart.ts';

/** A measurement and the time that it covers, seconds since 1970. */
export interface TimedRate {
  readonly from: number;
  readonly to: number;
  readonly point: PageData['rate'][number];
}

const mostReasons = 3;

/** Measurements with their times of day, ascending even if a clock was set back. */
export function timedRates(
  rate: PageData['rate'],
  starts: NonNullable<PageData['summary']['rate']>['starts'],
): readonly TimedRate[] {
  let end = 0;
  return rate.map((point, index): TimedRate => {
    const lastTime = rate[index - 1]?.t_s ?? 0;
    const { t_s = 0, at = '' } = starts.findLast((start) => start.t_s < point.t_s) ?? {};
    const to = Math.max(end, Date.parse(at) / 1_000 + point.t_s - t_s);
    const from = Math.max(end, to - (point.t_s - lastTime));
    end = to;
    return { from, to, point };
  });
}

/** The times in which no call was possible, or the run was not in progress. */
export function bandsOf(rates: readonly TimedRate[], stops: readonly PageStop[]): readonly Band[] {
  const waits: Band[] = [];
  for (const { from, to, point } of rates) {
    const { waited_s = 0, reason = 'no call was possible' } = point;
    if (waited_s === 0) continue;
    const last = waits.at(-1);
    // A wait may be a part of a point's time: it is at the beginning if the last wait reaches it, or else at the end.
    if (last?.reason === reason && last.to > from - 0.05)
      waits[waits.length - 1] = { ...last, to: Math.min(to, from + waited_s) };
    else waits.push({ from: Math.max(from, to - waited_s), to, reason, kind: 'wait' });
  }
  const stopped = stops.map(
    ({ from, to, state, reason }): Band => ({
      from: Date.parse(from) / 1_000,
      to: Date.parse(to) / 1_000,
      reason: `the run was ${state}${reason === undefined ? '' : `: ${reason}`}`,
      kind: 'stop',
    }),
  );
  return [...waits, ...stopped].sort((a, b) => a.from - b.from);
}

/** The reasons of bands with their lengths: `the API asks to wait (2 times, in all 33 s); …`. */
export function bandWords(bands: readonly Band[]): string {
  const reasons = [...new Set(bands.map(({ reason }) => reason))];
  const texts = reasons.slice(0, mostReasons).map((reason) => {
    const same = bands.filter((band) => band.reason === reason);
    const times = same.length === 1 ? '' : `${counted(same.length, 'time')}, in all `;
    return `${reason} (${times}${lengthOf(same)})`;
  });
  const more = reasons.length - texts.length;
  return [...texts, ...(more > 0 ? [counted(more, 'other reason')] : [])].join('; ');
}

/** The length of all bands together: `33 s`. */
export function lengthOf(bands: readonly Band[]): string {
  return duration(bands.reduce((sum, { from, to }) => sum + to - from, 0));
}
