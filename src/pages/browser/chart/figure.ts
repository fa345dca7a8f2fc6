import type uPlot from 'uplot';
import { localTime } from '../../../base/text/local-time.ts';
import { element, numberCell, redraw, tableElement } from '../dom.ts';
import { bandAt, type Chart, type ChartData, textAt } from './chart.ts';
import { Legend } from './legend.ts';
import { alignedData, plotOf } from './plot.ts';

/** A chart with a summary in words, and its data as a table. */
export class Figure {
  readonly element: HTMLElement;
  #shown: Chart = { title: '', summary: '' };
  #plot: uPlot | undefined;
  readonly #title = element('h3');
  readonly #caption = element('figcaption');
  readonly #place = element('div', { class: 'chart', role: 'img' });
  readonly #legend = new Legend();
  readonly #table = element('details', { toggle: () => this.#fill() });
  readonly #chart = element('div', this.#place, this.#legend.element);
  readonly #onZoom: () => void;

  /** @param onZoom called when the reader has chosen a part of the time, or all of it again */
  constructor(signal: AbortSignal, onZoom: () => void) {
    this.#onZoom = onZoom;
    this.element = element('figure', this.#title, this.#chart, this.#caption, this.#table);
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(this.#place);
    // Paper has colors of its own.
    for (const media of ['(prefers-color-scheme: dark)', 'print'])
      matchMedia(media).addEventListener('change', () => this.#draw(), { signal });
    signal.addEventListener('abort', () => {
      observer.disconnect();
      this.#plot?.destroy();
    });
  }

  /** Shows newer data. The zoom stays while the chart has the same lines. */
  show(chart: Chart): void {
    const { title, summary, data } = chart;
    const [before, isZoomed] = [this.#shown.data, this.isZoomed];
    this.#shown = chart;
    redraw(this.#title, title);
    redraw(this.#caption, element('p', { class: 'quiet' }, summary));
    this.#place.setAttribute('aria-label', `${title}. ${summary}`);
    this.element.classList.toggle('in-words', data === undefined);
    this.#chart.hidden = data === undefined;
    this.#table.hidden = data === undefined;
    this.#fill();
    if (data === undefined || this.#plot === undefined) return;
    if (shapeOf(data) === shapeOf(before)) {
      this.#plot.setData(alignedData(data), !isZoomed);
      if (isZoomed) this.#plot.redraw();
      this.#legend.show(data, this.#plot.cursor.idx);
    } else this.#draw();
  }

  get isZoomed(): boolean {
    const { times = [] } = this.#shown.data ?? {};
    const { min = 0, max = 0 } = this.#plot?.scales['x'] ?? {};
    return this.#plot !== undefined && (min > (times[0] ?? 0) || max < (times.at(-1) ?? 0));
  }

  showAll(): void {
    const { times = [] } = this.#shown.data ?? {};
    this.#plot?.setScale('x', { min: times[0] ?? 0, max: times.at(-1) ?? 0 });
  }

  #fit(): void {
    const { clientWidth: width } = this.#place;
    if (width === 0) return;
    if (this.#plot === undefined) this.#draw();
    else if (this.#plot.width !== width) this.#plot.setSize({ width, height: this.#plot.height });
  }

  #draw(): void {
    const { data } = this.#shown;
    if (data === undefined) return;
    this.#plot?.destroy();
    const latest = (): ChartData => this.#shown.data ?? data;
    this.#plot = plotOf(this.#place, latest, (index) => this.#legend.show(latest(), index), this.#onZoom);
    this.#legend.show(data);
  }

  /** Fills the table of values only while it is open, because it may have thousands of cells. */
  #fill(): void {
    const { title, data } = this.#shown;
    const isOpen = this.#table.open && data !== undefined;
    redraw(this.#table, element('summary', 'Data table'), isOpen && valueTable(`${title}: data`, data));
  }
}

/** The shape of data, which is equal for data that the same plot can show. */
function shapeOf(data: ChartData | undefined): string {
  return JSON.stringify([data?.lines.map(({ label }) => label), data?.isLogarithmic]);
}

function valueTable(label: string, data: ChartData): HTMLElement {
  const { times, lines } = data;
  const rows = times.flatMap((time, index) => {
    const texts = lines.map((line) => textAt(data, line, index) ?? '');
    if (texts.every((text) => text === '')) return [];
    return [[localTime(time * 1_000), ...texts.map(numberCell), bandAt(data, time)?.reason]];
  });
  return tableElement(label, ['Time', ...lines.map((line) => line.label), 'Why no call'], rows);
}
