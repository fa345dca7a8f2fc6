import { adviceOn, mayPassAgain } from '../../codes.ts';
import type { ReportLine } from '../join-results.ts';
import type { RunSummary } from '../summary.ts';
import { LatencyOverTime } from './latency-series.ts';
import type { PageAdvice, PageContent, PageRun, RowsInside } from './page-data.ts';
import { type ColumnOptions, isTroubled, RowColumns } from './row-columns.ts';

/** The most bytes of compressed rows, for a page that fits into an e-mail. Base64 makes four bytes of three. */
const mostBytes = (20_000_000 * 3) / 4;

export interface ReportPageOptions extends ColumnOptions {
  readonly run: Omit<PageRun, 'writtenAt'>;
}

/** Collects the lines of a report for report.html. */
export class ReportPage {
  readonly #options: ReportPageOptions;
  readonly #latency = new LatencyOverTime();
  #selection: RowsInside;
  #rows: RowColumns;

  /** @param selection the rows to include; none when they are too many */
  constructor(options: ReportPageOptions, selection: RowsInside = 'all') {
    this.#options = options;
    this.#selection = selection;
    this.#rows = new RowColumns(options);
  }

  /** The included rows. When all were too many, make another page with the troubled rows. */
  get selection(): RowsInside {
    return this.#selection;
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const { result } of lines) {
      const started = Date.parse(result.startedAt ?? '');
      if (!Number.isNaN(started) && result.durationMs !== undefined)
        this.#latency.add(started, result.durationMs);
    }
    if (this.#selection === 'none') return;
    await this.#rows.add(this.#selection === 'all' ? lines : lines.filter(isTroubled));
    if (this.#rows.bytes <= mostBytes) return;
    this.#selection = 'none';
    this.#rows.discard();
    this.#rows = new RowColumns(this.#options);
  }

  /** The content of the page. Call it after all lines. */
  async content(summary: RunSummary): Promise<PageContent> {
    const { run, refeed, operations } = this.#options;
    const { columns, pieces } = await this.#rows.end();
    const { rate, ...others } = summary;
    const data = {
      version: 1,
      run: { ...run, writtenAt: new Date().toISOString() },
      summary: { ...others, rate: rate && { ...rate, series: [] } },
      operations: Object.fromEntries(
        operations.map(({ name, thing, done }) => [name, { thing, ...(done !== undefined && { done }) }]),
      ),
      advice: Object.fromEntries(summary.codes.map(({ code }) => [code, pageAdvice(code)])),
      rate: rate?.series ?? [],
      latency: this.#latency.series(),
      rows: { selection: this.#selection, count: this.#rows.count, columns, clearToken: refeed.clear_token },
    } as const;
    return { data, pieces };
  }
}

function pageAdvice(code: string): PageAdvice {
  return { ...adviceOn(code), ...(mayPassAgain(code) && { mayPass: true }) };
}
