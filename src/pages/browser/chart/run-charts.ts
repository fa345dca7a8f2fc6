import { counted, exactDuration, perSecond, rateText } from '../../../base/text/format.ts';
import type { LatencySeries, PageData } from '../../../engine/report/html/page-data.ts';
import type { Band, Chart, ChartData, Line } from './chart.ts';
import { bandsOf, bandWords, type TimedRate, timedRates } from './run-times.ts';
import { valueSteps } from './ticks.ts';

/** With fewer points or seconds, lines would mean nothing. */
const leastPoints = 10;
const leastSeconds = 10;
/** Seconds: a longer time without a measurement is a gap in the line. */
const leastGap = 1;
/** From this factor between the slowest percentile and the median, a linear axis would hide the median. */
const logarithmicFrom = 20;

/** Seconds since 1970. */
type Span = readonly [from: number, to: number];

/** A chart before it is known which times and bands the others have. */
type Sketch = Omit<Chart, 'data'> & { readonly data?: Omit<ChartData, 'bands'> };

/** All have the same time axis, unless there is a retry, which may have been made days after the run. */
export function chartsOf(data: Pick<PageData, 'rate' | 'latency' | 'summary' | 'run'>): readonly Chart[] {
  const { latency, summary, run } = data;
  const rates = timedRates(data.rate, summary.rate?.starts ?? []);
  const bands = bandsOf(rates, run.stops);
  const [rateSpan, callSpan] = [spanOf(rates), spanOfLatency(latency)];
  const spans = [rateSpan, callSpan].filter((span) => span !== undefined);
  const whole: Span = [Math.min(...spans.map(([from]) => from)), Math.max(...spans.map(([, to]) => to))];
  const fitted = (own: Span | undefined, sketch: Sketch | undefined): readonly Chart[] => {
    if (own === undefined || sketch === undefined) return [];
    const { data: drawn, ...chart } = sketch;
    const span = summary.retries.length === 0 ? whole : own;
    return [drawn === undefined ? chart : { ...chart, data: framed(span, { ...drawn, bands }) }];
  };
  return [
    ...fitted(rateSpan, rateChart(rates, bands, summary)),
    ...fitted(callSpan, latencyChart(latency, summary.latency_ms)),
    ...fitted(callSpan, failureChart(latency)),
  ];
}

function spanOf(rates: readonly TimedRate[]): Span | undefined {
  const [first, last] = [rates[0], rates.at(-1)];
  return first && last && [first.from, last.to];
}

function spanOfLatency({ from, stretchMs, p50 }: LatencySeries): Span | undefined {
  return p50.length === 0 ? undefined : [from / 1_000, (from + p50.length * stretchMs) / 1_000];
}

function rateChart(
  rates: readonly TimedRate[],
  bands: readonly Band[],
  { rate, retries }: PageData['summary'],
): Sketch {
  const rejected = rates.reduce((sum, { point }) => sum + point.rejected, 0);
  const [from = 0, to = 0] = spanOf(rates) ?? [];
  const hasLines = rates.length >= leastPoints && to - from >= leastSeconds;
  const most = Math.max(...rates.map(({ point }) => point.accepted_per_s));
  const sentences = [
    `Requested rate: ${rate?.wanted ?? 'unlimited'}.`,
    // The highest point of the line `achieved`.
    hasLines && `Peak achieved: ${callRate(most)}.`,
    rejected > 0 && `Rejected as too many: ${counted(rejected, 'call')}.`,
    bands.length > 0 && `Shaded: ${bandWords(bands)}.`,
  ];
  const chart = {
    title: retries.length === 0 ? 'Calls per second' : 'Calls per second, without the retries',
    summary: sentences.filter(Boolean).join(' '),
  };
  if (!hasLines) return chart;
  const points = rates.flatMap((timed, index): readonly Pick<Partial<TimedRate>, 'to' | 'point'>[] => {
    const lastEnd = rates[index - 1]?.to ?? timed.from;
    return timed.from > lastEnd + leastGap ? [{ to: (lastEnd + timed.from) / 2 }, timed] : [timed];
  });
  const values = (of: (point: TimedRate['point']) => number | null): readonly (number | null)[] =>
    points.map(({ point }) => (point === undefined ? null : of(point)));
  const allowed = values((point) => point.allowed_per_s);
  const calls = rates.reduce((sum, { from, to, point }) => sum + point.accepted_per_s * (to - from), 0);
  const seconds = rates.reduce((sum, { from, to }) => sum + to - from, 0);
  return {
    ...chart,
    data: {
      times: points.map(({ to = 0 }) => to),
      lines: [
        {
          label: 'allowed',
          color: '--allowed',
          values: allowed,
          overall: rangeText(allowed.filter((value) => value !== null)),
          isStepped: true,
          stroke: 'dashed',
        },
        {
          label: 'achieved',
          color: '--achieved',
          values: values((point) => point.accepted_per_s),
          overall: callRate(calls / Math.max(seconds, 1)),
          stroke: 'solid',
        },
      ],
      ...(rejected > 0 && { rejected: values((point) => point.rejected).map((value) => value ?? 0) }),
      valueText: perSecond,
      steps: valueSteps(-3),
    },
  };
}

/** `50 calls/s` */
function callRate(value: number): string {
  return rateText(value, 'calls');
}

/** `50 calls/s`, or `1/s to 50 calls/s` */
function rangeText(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? callRate(most) : `${perSecond(least)} to ${callRate(most)}`;
}

function latencyChart(series: LatencySeries, overall: PageData['summary']['latency_ms']): Sketch | undefined {
  if (overall === null) return undefined;
  const { from, stretchMs, p50, p90, p99 } = series;
  const isLogarithmic = Math.max(...p99.map((value) => value ?? 0)) > logarithmicFrom * overall.p50;
  const [half, most, slowest] = [overall.p50, overall.p99, overall.max].map(exactDuration);
  const chart = {
    title: 'Latency',
    summary: `Half of the calls took ${half} or less (p50), 99 of 100 took ${most} or less (p99). Slowest call: ${slowest}.`,
  };
  if (!isEnough(series)) return chart;
  const line = (label: 'p50' | 'p90' | 'p99', values: Line['values']) => ({
    label,
    values,
    overall: exactDuration(overall[label]),
  });
  return {
    ...chart,
    data: {
      times: p50.map((_, index) => (from + (index + 1) * stretchMs) / 1_000),
      lines: [
        { ...line('p50', p50), color: '--achieved', stroke: 'solid' },
        { ...line('p90', p90), color: '--allowed', stroke: 'dashed' },
        { ...line('p99', p99), color: '--slowest', stroke: 'dotted' },
      ],
      valueText: exactDuration,
      steps: valueSteps(0),
      isLogarithmic,
    },
  };
}

function isEnough({ p50 }: LatencySeries): boolean {
  return p50.filter((value) => value !== null).length >= leastPoints;
}

function failureChart(series: LatencySeries): Sketch | undefined {
  const { from, stretchMs, p50, failed } = series;
  const rowsFailed = failed.reduce((sum, rows) => sum + rows, 0);
  if (rowsFailed === 0 || !isEnough(series)) return undefined;
  const all = counted(rowsFailed, 'row');
  const seconds = stretchMs / 1_000;
  const valueText = (value: number) => rateText(value, 'rows');
  return {
    title: 'Failures',
    summary: `${all} failed. Most at once: ${valueText(Math.max(...failed) / seconds)}.`,
    data: {
      times: failed.map((_, index) => from / 1_000 + (index + 1) * seconds),
      lines: [
        {
          label: 'failed',
          color: '--rejected',
          values: failed.map((rows, index) => (p50[index] === null ? null : rows / seconds)),
          overall: all,
          stroke: 'solid',
        },
      ],
      valueText,
      steps: valueSteps(-3),
    },
  };
}

/** Leaves out lines without values, and adds an empty point at each end of the axis without a point. */
function framed([from, to]: Span, { times, lines, rejected, ...rest }: ChartData): ChartData {
  const isBefore = from < (times[0] ?? to);
  const isAfter = to > (times.at(-1) ?? to);
  const frame = <Value>(values: readonly Value[], first: Value, last: Value): readonly Value[] => [
    ...(isBefore ? [first] : []),
    ...values,
    ...(isAfter ? [last] : []),
  ];
  return {
    ...rest,
    times: frame(times, from, to),
    lines: lines
      .filter(({ values }) => values.some((value) => value !== null))
      .map((line) => ({ ...line, values: frame(line.values, null, null) })),
    ...(rejected !== undefined && { rejected: frame(rejected, 0, 0) }),
  };
}
