import type { LatencySeries, PageData } from '../report/html/page-data.ts';
import { zoneText } from '../text/local-time.ts';
import { counted, exactDuration, perSecond } from '../text/quantities.ts';
import { element } from './dom.ts';
import { type Chart, Figure } from './figure.ts';

/** Charts of the rate and the latency over time; a chart without data is left out. */
export class Charts {
  readonly element = element('section', { 'aria-label': 'Over time', class: 'charts' });
  readonly #figures = new Map<string, Figure>();
  readonly #signal: AbortSignal;

  /** @param signal aborts when the charts are no longer needed */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  show({ rate, latency, summary }: Pick<PageData, 'rate' | 'latency' | 'summary'>): void {
    if (rate.length > 1) this.#show(rateChart(rate, summary));
    if (latency.p50.length > 1) this.#show(latencyChart(latency, summary.latency_ms?.max ?? 0));
  }

  #show(chart: Chart): void {
    let figure = this.#figures.get(chart.title);
    if (figure === undefined) {
      figure = new Figure(chart, this.#signal);
      this.#figures.set(chart.title, figure);
      this.element.append(figure.element);
    }
    figure.show(chart);
  }
}

function rateChart(rate: PageData['rate'], { rate: known, retries }: PageData['summary']): Chart {
  const rejected = rate.reduce((sum, point) => sum + point.rejected, 0);
  const waited = known?.waited_s ?? 0;
  const most = Math.max(...rate.map((point) => point.accepted_per_s));
  const told = [
    `Requested rate: ${known?.wanted ?? 'unlimited'}. Peak: ${perSecond(most)}.`,
    rejected > 0 && `Rejected as too many: ${counted(rejected, 'call')}.`,
    waited > 0 && `Waiting at the API's request (shaded): ${exactDuration(waited * 1_000)}.`,
  ];
  return {
    title: retries.length === 0 ? 'Calls per second' : 'Calls per second, without the retries',
    summary: told.filter(Boolean).join(' '),
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
      { label: 'rejected', colour: '--refused', values: rejectedPerSecond(rate) },
    ],
    waits: rate.map((point) => (point.waited_s ?? 0) > 0),
  };
}

function rejectedPerSecond(rate: PageData['rate']): readonly number[] {
  return rate.map(({ t_s, rejected }, index) => rejected / Math.max(0.1, t_s - (rate[index - 1]?.t_s ?? 0)));
}

function latencyChart({ from, stretchMs, p50, p90, p99 }: LatencySeries, slowest: number): Chart {
  return {
    title: 'Latency',
    summary: `Percentiles over time (${zoneText(new Date(from))}). Slowest call: ${exactDuration(slowest)}.`,
    times: p50.map((_, index) => (from + index * stretchMs) / 1_000),
    isTimeOfDay: true,
    valueText: exactDuration,
    lines: [
      { label: 'p50', colour: '--achieved', values: p50 },
      { label: 'p90', colour: '--allowed', values: p90, dash: [6, 4] },
      { label: 'p99', colour: '--refused', values: p99, dash: [2, 3] },
    ],
  };
}
