import { adviceOn, mayPassAgain } from '../../../domain/codes.ts';
import type { ReportLine } from '../join-results.ts';
import type { RunSummary } from '../summary.ts';
import { LatencyOverTime } from './latency-series.ts';
import { PackedRows, type PackOptions } from './packed-rows.ts';
import type { PageAdvice, PageContent, PageRun } from './page-data.ts';

export interface ReportPageOptions extends PackOptions {
  readonly run: Omit<PageRun, 'writtenAt'>;
}

/** Collects the lines of a report for report.html. */
export class ReportPage {
  readonly #options: ReportPageOptions;
  readonly #latency = new LatencyOverTime();
  readonly #rows: PackedRows;

  constructor(options: ReportPageOptions) {
    this.#options = options;
    this.#rows = new PackedRows(options);
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const { result } of lines) {
      const started = Date.parse(result.startedAt ?? '');
      if (!Number.isNaN(started) && result.durationMs !== undefined)
        this.#latency.add(started, result.durationMs, result.outcome === 'failed');
    }
    await this.#rows.add(lines);
  }

  /** The content of the page. Call this after all lines were added. */
  async content(summary: RunSummary): Promise<PageContent> {
    const { run, refeed, operations } = this.#options;
    const { rate, ...rest } = summary;
    const data = {
      version: 1,
      run: { ...run, writtenAt: new Date().toISOString() },
      summary: { ...rest, rate: rate && { ...rate, series: [] } },
      operations: Object.fromEntries(
        operations.map(({ name, thing, done }) => [name, { thing, ...(done !== undefined && { done }) }]),
      ),
      advice: Object.fromEntries(summary.codes.map(({ code }) => [code, pageAdvice(code)])),
      rate: rate?.series ?? [],
      latency: this.#latency.series(),
      rows: { columns: this.#rows.columns, clearToken: refeed.clear_token },
    } as const;
    return { data, portions: await this.#rows.end() };
  }
}

function pageAdvice(code: string): PageAdvice {
  return { ...adviceOn(code), ...(mayPassAgain(code) && { mayPass: true }) };
}
