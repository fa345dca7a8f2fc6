import type uPlot from 'uplot';
import { localTime } from '../../../base/text/local-time.ts';
import { element, numberCell, redraw, tableElement } from '../dom.ts';
import { bandAt, type Chart, type ChartData } from './chart.ts';
import { Legend } from './legend.ts';
import { alignedData, plotOf } from './plot.ts';

/** A chart with a summary in words, and its data as a table. */
export class Figure {
  readonly element: HTMLElement;
  #data: ChartData | undefined;
  #plot: uPlot | undefined;
  readonly #caption = element('figcaption');
  readonly #place = element('div', { class: 'chart', role: 'img' });
  readonly #legend = new Legend();
  readonly #table = element('details', { toggle: () => this.#fill() });
  readonly #chart = element('div', this.#place, this.#legend.element, this.#table);
  readonly #onZoom: () => void;
  #title = '';

  /** @param onZoom called when the reader has chosen a part of the time */
  constructor(signal: AbortSignal, onZoom: () => void) {
    this.#onZoom = onZoom;
    this.element = element('figure', this.#caption, this.#chart);
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(this.#place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw(), { signal });
    signal.addEventListener('abort', () => {
      observer.disconnect();
      this.#plot?.destroy();
    });
  }

  /** Shows newer data. The zoom stays while the lines are the same. */
  show({ title, summary, data }: Chart): void {
    const lastData = this.#data;
    this.#data = data;
    this.#title = title;
    redraw(this.#caption, element('h3', title), element('p', { class: 'quiet' }, summary));
    this.#place.setAttribute('aria-label', `${title}. ${summary}`);
    this.#chart.hidden = data === undefined;
    this.#fill();
    if (data === undefined || lastData === undefined || this.#plot === undefined) return;
    const isZoomed = isPart(this.#plot, lastData);
    if (shapeOf(data) !== shapeOf(lastData)) this.#draw();
    else this.#plot.setData(alignedData(data), !isZoomed);
    if (isZoomed) this.#plot.redraw();
    this.#legend.show(data, this.#plot.cursor.idx);
  }

  get isZoomed(): boolean {
    return this.#plot !== undefined && this.#data !== undefined && isPart(this.#plot, this.#data);
  }

  showAll(): void {
    const { times = [] } = this.#data ?? {};
    this.#plot?.setScale('x', { min: times[0] ?? 0, max: times.at(-1) ?? 0 });
  }

  #fit(): void {
    const { clientWidth: width } = this.#place;
    if (width === 0) return;
    if (this.#plot === undefined) this.#draw();
    else if (this.#plot.width !== width) this.#plot.setSize({ width, height: this.#plot.height });
  }

  #draw(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    if (this.#data === undefined) return;
    const data = this.#data;
    this.#plot = plotOf({
      place: this.#place,
      width: this.#place.clientWidth,
      data: () => this.#data ?? data,
      onLook: (index) => this.#legend.show(this.#data ?? data, index),
      onZoom: this.#onZoom,
    });
    this.#legend.show(data);
  }

  /** Only while the table is open, because it may have thousands of cells. */
  #fill(): void {
    const data = this.#table.open ? this.#data : undefined;
    redraw(
      this.#table,
      element('summary', { id: `data ${this.#title}` }, 'Data table'),
      data !== undefined && valueTable(`${this.#title}: data`, data),
    );
  }
}

function isPart({ scales }: uPlot, { times }: ChartData): boolean {
  const { min = 0, max = 0 } = scales['x'] ?? {};
  return min > (times[0] ?? 0) || max < (times.at(-1) ?? 0);
}

/** Equal for data that the same plot can show. */
function shapeOf({ lines, rejected, isLogarithmic }: ChartData): string {
  return JSON.stringify([lines.map(({ label }) => label), rejected !== undefined, isLogarithmic]);
}

function valueTable(label: string, data: ChartData): HTMLElement {
  const { times, lines, rejected, bands, valueText } = data;
  const head = [
    'Time',
    ...lines.map(({ label }) => label),
    ...(rejected === undefined ? [] : ['rejected']),
    ...(bands.length === 0 ? [] : ['Why no call']),
  ];
  const rows = times.flatMap((time, index) => {
    const values = lines.map((line) => line.values[index] ?? null);
    if (values.every((value) => value === null)) return [];
    const texts = values.map((value) => (value === null ? '' : valueText(value)));
    if (rejected !== undefined) texts.push(String(rejected[index]));
    const reason = bands.length === 0 ? [] : [bandAt(data, time)?.reason ?? ''];
    return [[localTime(time * 1_000), ...texts.map(numberCell), ...reason]];
  });
  return tableElement(label, head, rows);
}
