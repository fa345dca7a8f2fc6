import uPlot from 'uplot';
import type { LatencySeries, PageData } from '../report/html/page-data.ts';
import { counted, durationText, element, timeText } from './dom.ts';

const height = 220;

interface Line {
  readonly label: string;
  /** The variable of the style sheet that has its colour. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** Whether a value holds until the next one. */
  readonly steps?: boolean;
  /** Whether it is dashed, so that it can be told without colours. */
  readonly dash?: readonly number[];
}

interface Chart {
  readonly title: string;
  /** What is to be seen, for those who can't see it. */
  readonly summary: string;
  readonly times: readonly number[];
  /** Whether times are seconds since 1970; else they are seconds since the beginning. */
  readonly isTimeOfDay: boolean;
  readonly lines: readonly Line[];
  readonly valueText: (value: number) => string;
  /** Whether the stretch before a point was spent waiting; shaded. */
  readonly waits?: readonly boolean[];
}

/** Pictures of the rate and of the latency over time, as far as there is something to be seen. */
export function chartsOf({ rate, latency, summary }: PageData): readonly HTMLElement[] {
  const charts: HTMLElement[] = [];
  if (rate.length > 1) {
    const refused = rate.reduce((sum, point) => sum + point.rejected, 0);
    const waited = summary.rate?.waited_s ?? 0;
    charts.push(
      figure({
        title: 'Calls per second',
        summary: [
          `Wanted: ${summary.rate?.wanted ?? 'as fast as can be'}. Most in a second: ${perSecond(Math.max(...rate.map((point) => point.accepted_per_s)))}.`,
          ...(refused > 0 ? [`Refused as too many: ${counted(refused, 'call')}.`] : []),
          ...(waited > 0
            ? [`Waiting, because the service asked for it (shaded): ${durationText(waited * 1_000)}.`]
            : []),
        ].join(' '),
        times: rate.map((point) => point.t_s),
        isTimeOfDay: false,
        valueText: perSecond,
        lines: [
          {
            label: 'allowed',
            colour: '--allowed',
            values: rate.map((point) => point.allowed_per_s),
            steps: true,
            dash: [6, 4],
          },
          { label: 'achieved', colour: '--achieved', values: rate.map((point) => point.accepted_per_s) },
          { label: 'refused', colour: '--refused', values: refusedPerSecond(rate) },
        ],
        waits: rate.map((point) => (point.waited_s ?? 0) > 0),
      }),
    );
  }
  if (latency.p50.length > 1) charts.push(figure(latencyChart(latency)));
  return charts;
}

function refusedPerSecond(rate: PageData['rate']): readonly number[] {
  return rate.map(({ t_s, rejected }, index) => rejected / Math.max(0.1, t_s - (rate[index - 1]?.t_s ?? 0)));
}

function latencyChart({ from, stretchMs, p50, p90, p99 }: LatencySeries): Chart {
  const worst = Math.max(...p99.map((value) => value ?? 0));
  return {
    title: 'How long calls took',
    summary: `Percentiles over time; the slowest percent took up to ${durationText(worst)}.`,
    times: p50.map((_, index) => (from + index * stretchMs) / 1_000),
    isTimeOfDay: true,
    valueText: durationText,
    lines: [
      { label: 'p50', colour: '--achieved', values: p50 },
      { label: 'p90', colour: '--allowed', values: p90, dash: [6, 4] },
      { label: 'p99', colour: '--refused', values: p99, dash: [2, 3] },
    ],
  };
}

function perSecond(value: number): string {
  return `${Number(value.toPrecision(3))}/s`;
}

function figure(chart: Chart): HTMLElement {
  const place = element('div', {
    class: 'chart',
    role: 'img',
    'aria-label': `${chart.title}. ${chart.summary}`,
  });
  let plot: uPlot | undefined;
  const draw = (): void => {
    plot?.destroy();
    plot = new uPlot(optionsOf(chart, place.clientWidth), dataOf(chart), place);
  };
  new ResizeObserver(() => {
    if (plot === undefined) draw();
    else if (plot.width !== place.clientWidth) plot.setSize({ width: place.clientWidth, height });
  }).observe(place);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return element(
    'figure',
    {},
    element('figcaption', {}, element('h3', {}, chart.title), element('p', {}, chart.summary)),
    place,
    element('details', {}, element('summary', {}, 'The figures'), valueTable(chart)),
  );
}

function dataOf({ times, lines }: Chart): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function optionsOf(
  { lines, times, isTimeOfDay, valueText, waits = [] }: Chart,
  width: number,
): uPlot.Options {
  const colour = (name: string): string => getComputedStyle(document.body).getPropertyValue(name).trim();
  const whenText = (value: number): string =>
    isTimeOfDay ? timeText(value * 1_000).slice(11) : durationText(value * 1_000);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line') },
  };
  return {
    width,
    height,
    scales: { x: { time: isTimeOfDay } },
    cursor: { drag: { x: true, y: false } },
    hooks: { drawClear: [(plot) => shade(plot, times, waits, colour('--waiting'))] },
    axes: [
      { ...axis, values: (_: uPlot, values: number[]) => values.map(whenText) },
      { ...axis, size: 70, values: (_: uPlot, values: number[]) => values.map(valueText) },
    ],
    series: [
      {
        label: isTimeOfDay ? 'time' : 'after',
        value: (_: uPlot, value: number | null) => (value === null ? '' : whenText(value)),
      },
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 2,
          spanGaps: false,
          points: { show: lines[0] !== undefined && lines[0].values.length < 30 },
          value: (_: uPlot, value: number | null) => (value === null ? '' : valueText(value)),
          ...(line.dash !== undefined && { dash: [...line.dash] }),
          ...(line.steps &&
            uPlot.paths.stepped !== undefined && { paths: uPlot.paths.stepped({ align: -1 }) }),
        }),
      ),
    ],
  };
}

/** Marks the stretches that were spent waiting. */
function shade(
  { ctx, bbox, valToPos }: uPlot,
  times: readonly number[],
  waits: readonly boolean[],
  colour: string,
): void {
  ctx.save();
  ctx.fillStyle = colour;
  for (const [index, time] of times.entries()) {
    if (waits[index] !== true) continue;
    const left = valToPos(times[index - 1] ?? 0, 'x', true);
    ctx.fillRect(left, bbox.top, valToPos(time, 'x', true) - left, bbox.height);
  }
  ctx.restore();
}

function valueTable({ times, isTimeOfDay, lines, valueText }: Chart): HTMLElement {
  const head = [isTimeOfDay ? 'Time' : 'After', ...lines.map(({ label }) => label)];
  return element(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'The figures of the chart' },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))),
      element(
        'tbody',
        {},
        ...times.map((time, index) =>
          element(
            'tr',
            {},
            element('td', {}, isTimeOfDay ? timeText(time * 1_000) : durationText(time * 1_000)),
            ...lines.map(({ values }) => {
              const value = values[index];
              return element('td', { class: 'number' }, value == null ? '' : valueText(value));
            }),
          ),
        ),
      ),
    ),
  );
}
