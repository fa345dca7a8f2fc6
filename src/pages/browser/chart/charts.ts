import type { PageData } from '../../../engine/report/html/page-data.ts';
import { button, element } from '../dom.ts';
import { Figure } from './figure.ts';
import { chartsOf } from './run-charts.ts';

/** The charts of a run. A run that was too short for any has none. */
export class Charts {
  readonly element = element('section', { 'aria-label': 'Over time', class: 'charts' });
  readonly #title = element('h2', { tabindex: '-1' }, 'Over time');
  readonly #reset = button('Show the whole run', () => this.#showAll(), { hidden: true });
  readonly #figures = new Map<string, Figure>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  show(data: PageData): void {
    const charts = chartsOf(data);
    const drawn = charts.filter((chart) => chart.data !== undefined);
    if (drawn.length === 0) return;
    this.element.style.setProperty('--charts', String(drawn.length));
    for (const chart of charts) {
      let figure = this.#figures.get(chart.title);
      if (figure === undefined) {
        figure = new Figure(this.#signal, () => this.#showZoom());
        if (this.#figures.size === 0) this.element.append(this.#title, this.#reset);
        this.#figures.set(chart.title, figure);
        this.element.append(figure.element);
      }
      figure.show(chart);
    }
  }

  #showZoom(): void {
    this.#reset.hidden = ![...this.#figures.values()].some(({ isZoomed }) => isZoomed);
  }

  #showAll(): void {
    for (const figure of this.#figures.values()) figure.showAll();
    this.#title.focus();
  }
}
