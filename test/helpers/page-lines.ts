import { writeHtmlReport } from '../../src/engine/report/html/html-report.ts';
import type { PageContent, PageStop, ReportedOperation } from '../../src/engine/report/html/page-data.ts';
import { ReportPage } from '../../src/engine/report/html/report-page.ts';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import type { NextStep, StepFacts } from '../../src/engine/report/next-step.ts';
import { nextSteps } from '../../src/engine/report/next-steps.ts';
import { type RunSummary, type SummaryHead, Tally } from '../../src/engine/report/summary.ts';
import { requestOfRow } from './planned-row.ts';

/** The facts about a run in a summary. */
export const factsOfRun: SummaryHead = {
  run: 'r',
  state: 'completed',
  manifest: { name: 'm.csv', sha256: '0' },
  started_at: null,
  finished_at: null,
  activeMs: 0,
  rate: null,
  retry_of: null,
  retries: [],
  delimiter: ',',
  digests: null,
};

/** The steps after a run that has ended, or that these facts are about. */
export function stepsAfter(summary: RunSummary, facts: Partial<StepFacts> = {}): readonly NextStep[] {
  const { run: id, state, outcomes, unclear, codes } = summary;
  const known = {
    manner: undefined,
    rowToSee: undefined,
    canCheck: true,
    correctFile: `runs/${id}/correct.csv`,
  };
  return nextSteps({ id, state, phase: 'ended', outcomes, unclear, codes, ...known, ...facts });
}

export interface PageOptions {
  readonly columns: readonly string[];
  readonly operations?: readonly ReportedOperation[];
  readonly facts?: Partial<SummaryHead>;
  readonly stops?: readonly PageStop[];
}

/** Writes a report.html of these lines. */
export async function writePageOf(
  parts: Iterable<readonly ReportLine[]>,
  { folder, ...options }: PageOptions & { readonly folder: string },
): Promise<string> {
  return writeHtmlReport(folder, await pageOf(parts, options));
}

/** What a report.html of these lines contains. */
export async function pageOf(
  parts: Iterable<readonly ReportLine[]>,
  { columns, operations = [], facts, stops = [] }: PageOptions,
): Promise<PageContent> {
  const report = new ReportPage({
    refeed: { columns: columns.map((title) => ({ title })), clear_token: '<clear>', defaults: {} },
    operations,
    requestOf: requestOfRow,
    run: {
      id: 'r',
      state: 'completed',
      phase: 'ended',
      baseUrl: 'https://api.example',
      stops,
    },
  });
  const tally = new Tally();
  for (const lines of parts) {
    for (const { result } of lines) tally.add(result);
    await report.add(lines);
  }
  const summary = tally.summary({ ...factsOfRun, activeMs: 1_000, ...facts });
  return report.content(summary, stepsAfter(summary));
}
