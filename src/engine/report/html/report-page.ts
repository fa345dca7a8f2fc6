import { adviceOn } from '../../../domain/codes.ts';
import type { RunCheck } from '../check-file.ts';
import type { ReportLine } from '../join-results.ts';
import type { NextStep } from '../next-step.ts';
import { rowStep } from '../row-steps.ts';
import type { RunSummary } from '../summary.ts';
import { LatencyOverTime } from './latency-series.ts';
import { MessageGroups } from './message-groups.ts';
import { CallsOverTime } from './own-calls.ts';
import { PackedRows, type PackOptions } from './packed-rows.ts';
import type { PageContent, PageRun } from './page-data.ts';

export interface ReportPageOptions extends PackOptions {
  readonly run: Omit<PageRun, 'writtenAt'>;
  readonly check?: RunCheck | undefined;
  /** Whether other runs may share the rate of the API. */
  readonly sharesRate?: boolean;
  /** Makes the commands of general advice those of this run. Default: they stay as they are. */
  readonly ofThisRun?: (advice: string) => string;
}

export class ReportPage {
  readonly #options: ReportPageOptions;
  readonly #latency = new LatencyOverTime();
  readonly #calls = new CallsOverTime();
  readonly #messages = new MessageGroups();
  readonly #rows: PackedRows;

  constructor(options: ReportPageOptions) {
    this.#options = options;
    this.#rows = new PackedRows(options);
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const { result } of lines) {
      this.#messages.add(result);
      this.#calls.add(result);
      const started = Date.parse(result.startedAt ?? '');
      if (!Number.isNaN(started) && result.durationMs !== undefined)
        this.#latency.add(started, result.durationMs, result.outcome === 'failed');
    }
    await this.#rows.add(lines);
  }

  /** The content of the page. Call this after all lines were added. */
  async content(summary: RunSummary, steps: readonly NextStep[]): Promise<PageContent> {
    const { run, refeed, operations, check, sharesRate, ofThisRun = (advice) => advice } = this.#options;
    const { rate, ...rest } = summary;
    const data = {
      version: 1,
      run: { ...run, writtenAt: new Date().toISOString() },
      summary: { ...rest, rate: rate && { ...rate, series: [] } },
      steps,
      operations: Object.fromEntries(
        operations.map(({ name, thing, done }) => [name, { thing, ...(done !== undefined && { done }) }]),
      ),
      advice: Object.fromEntries(
        summary.codes.map(({ code }) => {
          const { meaning, remedy } = adviceOn(code);
          const advice = { meaning, ...(remedy !== undefined && { remedy: ofThisRun(remedy) }) };
          return [code, { ...advice, step: rowStep(code, summary.state) }];
        }),
      ),
      messages: this.#messages.all(),
      rate: rate?.series ?? [],
      latency: this.#latency.series(),
      ...(sharesRate && { ownCalls: this.#calls.calls() }),
      rows: { columns: this.#rows.columns, clearToken: refeed.clear_token },
      ...(check !== undefined && { check }),
    } as const;
    return { data, portions: await this.#rows.end() };
  }
}
