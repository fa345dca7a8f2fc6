import type { LatencySeries, PageData } from '../report/html/page-data.ts';
import { zoneText } from '../text/local-time.ts';
import { counted, exactDuration, perSecond } from '../text/quantities.ts';
import { element } from './dom.ts';
import { type Chart, Figure } from './figure.ts';

/** Pictures of the rate and of the latency over time, as far as there is something to be seen. */
export class Charts {
  readonly element = element('section', { 'aria-label': 'Over time', class: 'charts' });
  readonly #figures = new Map<string, Figure>();
  readonly #signal: AbortSignal;

  /** @param signal they are no longer needed */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  show({ rate, latency, summary }: Pick<PageData, 'rate' | 'latency' | 'summary'>): void {
    if (rate.length > 1) this.#show(rateChart(rate, summary));
    if (latency.p50.length > 1) this.#show(latencyChart(latency));
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
  const refused = rate.reduce((sum, point) => sum + point.rejected, 0);
  const waited = known?.waited_s ?? 0;
  const most = Math.max(...rate.map((point) => point.accepted_per_s));
  const told = [
    `Wanted: ${known?.wanted ?? 'as fast as can be'}. Most in a second: ${perSecond(most)}.`,
    refused > 0 && `Refused as too many: ${counted(refused, 'call')}.`,
    waited > 0 && `Waiting, because the service asked for it (shaded): ${exactDuration(waited * 1_000)}.`,
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
      { label: 'refused', colour: '--refused', values: refusedPerSecond(rate) },
    ],
    waits: rate.map((point) => (point.waited_s ?? 0) > 0),
  };
}

function refusedPerSecond(rate: PageData['rate']): readonly number[] {
  return rate.map(({ t_s, rejected }, index) => rejected / Math.max(0.1, t_s - (rate[index - 1]?.t_s ?? 0)));
}

function latencyChart({ from, stretchMs, slowestMs, p50, p90, p99 }: LatencySeries): Chart {
  return {
    title: 'How long calls took',
    summary: `Percentiles over time (${zoneText(new Date(from))}); the slowest call took ${exactDuration(slowestMs)}.`,
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
