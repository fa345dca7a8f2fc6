import uPlot from 'uplot';
import { localTime } from '../text/local-time.ts';
import { exactDuration } from '../text/quantities.ts';
import { element, numberCell, tableElement } from './dom.ts';

const height = 220;
/** On paper, where two charts are side by side: half of A4 landscape. */
const printedWidth = 490;
/** With fewer points than this, each point has a mark. */
const markedPoints = 30;

export interface Line {
  readonly label: string;
  /** The CSS variable with its colour. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** Whether each value holds until the next one. */
  readonly steps?: boolean;
  /** The dash pattern, so that lines differ without colours. */
  readonly dash?: readonly number[];
}

export interface Chart {
  readonly title: string;
  /** The chart in words, for screen readers. */
  readonly summary: string;
  readonly times: readonly number[];
  /** Whether times are seconds since 1970; otherwise they are seconds since the start. */
  readonly isTimeOfDay: boolean;
  readonly lines: readonly Line[];
  readonly valueText: (value: number) => string;
  /** Whether the time before each point was spent waiting; shaded. */
  readonly waits?: readonly boolean[];
}

/** A chart with its title, a summary in words, and its data as a table. */
export class Figure {
  readonly element: HTMLElement;
  #chart: Chart;
  #plot: uPlot | undefined;
  readonly #summary = element('p');
  readonly #place = element('div', { class: 'chart', role: 'img' });
  readonly #figures = element('details', { toggle: () => this.#fill() }, element('summary', 'Data table'));

  /** @param signal aborts when the chart is no longer needed */
  constructor(chart: Chart, signal: AbortSignal) {
    this.#chart = chart;
    this.element = element(
      'figure',
      element('figcaption', element('h3', chart.title), this.#summary),
      this.#place,
      this.#figures,
    );
    new ResizeObserver(() => {
      const width = this.#place.clientWidth;
      if (this.#plot === undefined) this.#draw();
      else if (this.#plot.width !== width) this.#plot.setSize({ width, height });
    }).observe(this.#place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw(), { signal });
    addEventListener('beforeprint', () => this.#draw(printedWidth), { signal });
    addEventListener('afterprint', () => this.#draw(), { signal });
  }

  /** Shows newer data of the same lines. The zoom stays. */
  show(chart: Chart): void {
    const { times: before } = this.#chart;
    this.#chart = chart;
    this.#summary.textContent = chart.summary;
    this.#place.setAttribute('aria-label', `${chart.title}. ${chart.summary}`);
    this.#fill();
    const plot = this.#plot;
    if (plot === undefined) return;
    const [{ min = 0, max = 0 } = {}, first = 0, last = 0] = [plot.scales['x'], before[0], before.at(-1)];
    const isZoomed = min > first || max < last;
    plot.setData(dataOf(chart), !isZoomed);
    if (isZoomed) plot.redraw();
  }

  /** Draws in the current colours. */
  #draw(width = this.#place.clientWidth): void {
    this.#plot?.destroy();
    this.#plot = new uPlot({ ...this.#options(), width, height }, dataOf(this.#chart), this.#place);
  }

  /** Makes the thousands of cells only while the table is open. */
  #fill(): void {
    this.#figures.querySelector('.wide')?.remove();
    if (this.#figures.open) this.#figures.append(valueTable(this.#chart));
  }

  #options(): Omit<uPlot.Options, 'width' | 'height'> {
    const { lines, isTimeOfDay, valueText } = this.#chart;
    const colour = (name: string): string => getComputedStyle(document.body).getPropertyValue(name).trim();
    const whenText = (value: number): string =>
      isTimeOfDay ? localTime(value * 1_000).slice(11, 19) : exactDuration(value * 1_000);
    const axis = {
      stroke: colour('--quiet'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line') },
    };
    return {
      scales: { x: { time: isTimeOfDay } },
      cursor: { drag: { x: true, y: false } },
      hooks: { drawClear: [(plot) => shade(plot, this.#chart, colour('--waiting'))] },
      axes: [
        { ...axis, space: 80, values: (_: uPlot, values: number[]) => values.map(whenText) },
        { ...axis, size: 70, values: (_: uPlot, values: number[]) => values.map(valueText) },
      ],
      series: [
        {
          label: 'time',
          value: (_: uPlot, value: number | null) => (value === null ? '' : whenText(value)),
        },
        ...lines.map(
          (line): uPlot.Series => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 2,
            spanGaps: false,
            points: { show: ({ data: [times] }) => times.length < markedPoints },
            value: (_: uPlot, value: number | null) => (value === null ? '' : valueText(value)),
            ...(line.dash !== undefined && { dash: [...line.dash] }),
            ...(line.steps &&
              uPlot.paths.stepped !== undefined && { paths: uPlot.paths.stepped({ align: -1 }) }),
          }),
        ),
      ],
    };
  }
}

function dataOf({ times, lines }: Chart): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

/** Shades the times spent waiting. */
function shade({ ctx, bbox, valToPos }: uPlot, { times, waits = [] }: Chart, colour: string): void {
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
  const head = [isTimeOfDay ? 'Time' : 'Elapsed', ...lines.map(({ label }) => label)];
  const rows = times.map((time, index) => [
    isTimeOfDay ? localTime(time * 1_000) : exactDuration(time * 1_000),
    ...lines.map(({ values }) => {
      const value = values[index];
      return numberCell(value == null ? '' : valueText(value));
    }),
  ]);
  return tableElement('Chart data', head, rows);
}
