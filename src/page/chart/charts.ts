import type { PageData } from '../../report/html/page-data.ts';
import { element } from '../dom.ts';
import { Figure } from './figure.ts';
import { chartsOf } from './run-charts.ts';

/** Charts of the rate and the latency over time; a chart without data is left out. */
export class Charts {
  readonly element = element('section', { 'aria-label': 'Over time', class: 'charts' });
  readonly #figures = new Map<string, Figure>();
  readonly #signal: AbortSignal;

  /** @param signal aborts when the charts are no longer needed */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  show(data: PageData): void {
    for (const chart of chartsOf(data)) {
      const figure = this.#figures.get(chart.title) ?? new Figure(this.#signal);
      if (!this.#figures.has(chart.title)) this.element.append(figure.element);
      this.#figures.set(chart.title, figure);
      figure.show(chart);
    }
  }
}
