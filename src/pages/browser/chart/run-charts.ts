import { counted, exactDuration, perSecond, rateText } from '../../../base/text/format.ts';
import type { LatencySeries, PageData } from '../../../engine/report/html/page-data.ts';
import type { Band, Chart, ChartData, Line } from './chart.ts';
import { bandsOf, bandWords, type TimedRate, timedRates } from './run-times.ts';
import { valueSteps } from './ticks.ts';

/** The least points of a line, which would mean nothing with fewer. */
const leastPoints = 10;
const leastSeconds = 10;
/** The longest time between two measurements that a line bridges, in seconds. A longer one is a gap in the line. */
const longestBridge = 1;
/** The least factor between the slowest percentile and the median for a logarithmic axis: a linear one would hide the median. */
const logarithmicFrom = 20;

/** The charts of a run, with the same time axis. After a retry, the axes differ: it may have been made days after the run. */
export function chartsOf(
  data: Pick<PageData, 'rate' | 'latency' | 'summary' | 'run' | 'ownCalls'>,
): readonly Chart[] {
  const { latency, summary, run, ownCalls } = data;
  const rates = timedRates(data.rate, summary.rate?.starts ?? []);
  const bands = bandsOf(rates, run.stops);
  const charts = [
    rateChart(rates, bands, summary, ownCalls),
    latencyChart(latency, bands, summary.latency_ms),
    failureChart(latency, bands),
  ].filter((chart) => chart !== undefined);
  const times = charts.flatMap((chart) => chart.data?.times ?? []);
  const ends = summary.retries.length > 0 ? [] : [Math.min(...times), Math.max(...times)];
  return charts.map((chart) => (chart.data ? { ...chart, data: framedData(chart.data, ends) } : chart));
}

function rateChart(
  rates: readonly TimedRate[],
  bands: readonly Band[],
  { rate, retries }: PageData['summary'],
  ownCalls: PageData['ownCalls'],
): Chart | undefined {
  const [first, last] = [rates[0], rates.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const rejected = rates.reduce((sum, { point }) => sum + point.rejected, 0);
  const hasLines = rates.length >= leastPoints && last.to - first.from >= leastSeconds;
  const achievedIn = (timed: TimedRate): number =>
    ownCalls === undefined ? timed.point.accepted_per_s : ownRate(ownCalls, timed);
  const most = Math.max(...rates.map(achievedIn));
  const sentences = [
    `Requested rate: ${rate?.wanted ?? 'unlimited'}.`,
    // The peak is the highest point of the line `achieved`.
    hasLines && `Peak achieved: ${callRate(most)}.`,
    rejected > 0 && `Rejected as too many: ${callCount(rejected)}.`,
    hasLines && 'These are calls, not rows: a row may need several.',
    ownCalls !== undefined && hasLines && 'Gray: the calls of all runs at this API.',
    bands.length > 0 && `Shaded: ${bandWords(bands)}.`,
  ];
  const chart = {
    title: retries.length === 0 ? 'Calls per second' : 'Calls per second, without the retries',
    summary: sentences.filter(Boolean).join(' '),
  };
  if (!hasLines) return chart;
  const points = rates.flatMap((timed, index): readonly Partial<TimedRate>[] => {
    const lastEnd = rates[index - 1]?.to;
    if (lastEnd === undefined) return [{ to: timed.from }, timed];
    return timed.from > lastEnd + longestBridge ? [{ to: (lastEnd + timed.from) / 2 }, timed] : [timed];
  });
  const values = (of: (point: TimedRate['point']) => number | null): readonly (number | null)[] =>
    points.map(({ point }) => (point === undefined ? null : of(point)));
  const allowed = values((point) => point.allowed_per_s);
  const ofAll = values((point) => point.accepted_per_s);
  const achieved = points.map(({ from, to, point }) =>
    from === undefined || to === undefined || point === undefined ? null : achievedIn({ from, to, point }),
  );
  const marks = values((point) => point.rejected || null);
  const callsBy = (perSecond: (timed: TimedRate) => number): number =>
    rates.reduce((sum, timed) => sum + perSecond(timed) * (timed.to - timed.from), 0);
  const seconds = rates.reduce((sum, { from, to }) => sum + to - from, 0);
  const range = rangeText(allowed.filter((value) => value !== null));
  const averageOf = (perSecond: (timed: TimedRate) => number): string =>
    `${callRate(callsBy(perSecond) / Math.max(seconds, 1))} on average`;
  const all = { overallText: callCount(rejected), valueText: callCount };
  const lines: readonly Line[] = [
    {
      label: 'allowed',
      color: '--succeeded',
      stroke: 'dashed',
      values: allowed,
      overallText: range,
      isStepped: true,
    },
    {
      label: 'all runs',
      color: '--quiet',
      stroke: 'dotted',
      values: ownCalls === undefined ? [] : ofAll,
      overallText: averageOf(({ point }) => point.accepted_per_s),
    },
    {
      label: ownCalls === undefined ? 'achieved' : 'this run',
      color: '--accent',
      stroke: 'solid',
      values: achieved,
      overallText: averageOf(achievedIn),
    },
    { label: 'rejected', color: '--failed', stroke: 'mark', values: marks, ...all },
  ];
  const times = points.map(({ to = 0 }) => to);
  return { ...chart, data: { times, lines, bands, valueText: perSecond, steps: valueSteps(-3) } };
}

/** The calls per second of one run, in the time of a measurement. */
function ownRate(
  { from: start, stretchMs, calls }: NonNullable<PageData['ownCalls']>,
  { from, to }: TimedRate,
): number {
  const at = Math.floor((500 * (from + to) - start) / stretchMs);
  return (calls[at] ?? 0) / (stretchMs / 1_000);
}

function callCount(calls: number): string {
  return counted(calls, 'call');
}

/** A rate of calls, in words: `50 calls/s`. */
function callRate(value: number): string {
  return rateText(value, 'calls');
}

/** The range of rates, in words: `50 calls/s`, or `1/s to 50 calls/s`. */
function rangeText(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? callRate(most) : `${perSecond(least)} to ${callRate(most)}`;
}

function latencyChart(
  series: LatencySeries,
  bands: readonly Band[],
  overall: PageData['summary']['latency_ms'],
): Chart | undefined {
  if (overall === null) return undefined;
  const { p50, p90, p99 } = series;
  const isLogarithmic = Math.max(...p99.map((value) => value ?? 0)) > logarithmicFrom * overall.p50;
  const [half, most, slowest] = [overall.p50, overall.p99, overall.max].map(exactDuration);
  const summary = `Half of the calls took ${half} or less (p50), 99 of 100 took ${most} or less (p99). Slowest call: ${slowest}.`;
  if (!isEnough(series)) return { title: 'Latency', summary };
  const line = (label: 'p50' | 'p90' | 'p99', values: Line['values']) => ({
    label,
    values: [null, ...values],
    overallText: exactDuration(overall[label]),
  });
  const lines: readonly Line[] = [
    { ...line('p50', p50), color: '--accent', stroke: 'solid' },
    { ...line('p90', p90), color: '--succeeded', stroke: 'dashed' },
    { ...line('p99', p99), color: '--attention', stroke: 'dotted' },
  ];
  const axis = { valueText: exactDuration, steps: valueSteps(0), isLogarithmic };
  return {
    title: 'Latency',
    summary: isLogarithmic ? `${summary} The axis is logarithmic.` : summary,
    data: { times: timesOf(series), lines, bands, ...axis },
  };
}

function isEnough({ p50 }: LatencySeries): boolean {
  return p50.filter((value) => value !== null).length >= leastPoints;
}

/** The times of a latency chart: the beginning of the first stretch, and the end of each. */
function timesOf({ from, stretchMs, p50 }: LatencySeries): readonly number[] {
  return Array.from({ length: p50.length + 1 }, (_, index) => (from + index * stretchMs) / 1_000);
}

function failureChart(series: LatencySeries, bands: readonly Band[]): Chart | undefined {
  const { stretchMs, p50, failed } = series;
  const rowsFailed = failed.reduce((sum, rows) => sum + rows, 0);
  if (rowsFailed === 0 || !isEnough(series)) return undefined;
  const all = counted(rowsFailed, 'row');
  const seconds = stretchMs / 1_000;
  const valueText = (value: number) => rateText(value, 'rows');
  const values = [null, ...failed.map((rows, index) => (p50[index] === null ? null : rows / seconds))];
  const lines: readonly Line[] = [
    { label: 'failed', color: '--failed', stroke: 'solid', values, overallText: all },
  ];
  return {
    title: 'Failures',
    summary: `${all} failed. Most at once: ${valueText(Math.max(...failed) / seconds)}.`,
    data: { times: timesOf(series), lines, bands, valueText, steps: valueSteps(-3) },
  };
}

/** The data of a chart without empty lines, and with a point without values at each end that has no point. */
function framedData(data: ChartData, ends: readonly number[]): ChartData {
  const before = ends.filter((end) => end < (data.times[0] ?? end));
  const after = ends.filter((end) => end > (data.times.at(-1) ?? end));
  const lines = data.lines
    .filter(({ values }) => values.some((value) => value !== null))
    .map((line) => ({
      ...line,
      values: [...before.map(() => null), ...line.values, ...after.map(() => null)],
    }));
  return { ...data, lines, times: [...before, ...data.times, ...after] };
}
