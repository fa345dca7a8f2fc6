import type { JournalView } from '../../journal/journal.ts';
import type { Delimiter } from '../../manifest/csv/delimiter.ts';
import { withReleases } from '../../releases.ts';
import { removeHtmlReport, writeHtmlReport } from '../../report/html/html-report.ts';
import type { PageContent } from '../../report/html/page-data.ts';
import { ReportPage, type ReportPageOptions } from '../../report/html/report-page.ts';
import { joinRetries, type ReportLines } from '../../report/join-retries.ts';
import { type RateHistory, readRateHistory } from '../../report/rate-history.ts';
import { type RunFacts, type RunSummary, Tally } from '../../report/summary.ts';
import { type WrittenReports, writeReports } from '../../report/write-reports.ts';
import { removeXlsxReport, writeXlsxReport } from '../../report/xlsx-report.ts';
import type { RetriedRun } from '../plan/retries.ts';
import { openRunLines, type RunLines, readRunLines } from '../plan/run-lines.ts';
import { actualState, goesOnByItself, type RunRecord } from '../record/record.ts';
import { timeAtWork } from '../record/record-keeper.ts';
import type { RunStore } from '../record/store.ts';

/** How a report is written, where it is not as the run has it. */
export interface ReportOptions {
  readonly delimiter?: Delimiter;
  /** Whether a workbook for Excel is wanted, too. */
  readonly xlsx?: boolean;
  /** Whether a page is wanted that shows all of it. */
  readonly html?: boolean;
}

/** Writes the report files of a run from its manifest and its journal, also while it is going on. */
export async function reportRun(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
  how: ReportOptions = {},
): Promise<WrittenReports> {
  return write(store, record, () => readRunLines(store, record, journal), factsOf(record, journal), how);
}

/** What a page shows of a run as it stands, also while it is going on. Nothing is written. */
export async function pageOfRun(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
): Promise<PageContent> {
  const readLines = () => readRunLines(store, record, journal);
  const read = await readLines();
  const options = pageOptionsOf(record, read);
  const page = new ReportPage(options);
  const tally = new Tally();
  for await (const lines of read.lines) {
    for (const { result } of lines) tally.add(result);
    await page.add(lines);
  }
  const rate = rateOf(await readRateHistory(store.folder(record.id)));
  const summary = tally.summary({ ...factsOf(record, journal), ...rate });
  return contentOf(page, summary, readLines, options);
}

/** Writes the report files of a run anew, each row with its last state: that of the latest retry which has called it. */
export function reportWithRetries(
  store: RunStore,
  { first, retries }: RetriedRun,
  how: ReportOptions = {},
): Promise<WrittenReports> {
  return withReleases(async (atEnd) => {
    const run = await openRunLines(store, first, atEnd);
    let facts = factsOf(first, run.journal);
    const journals: JournalView[] = [];
    for (const retry of retries) {
      const retried = await openRunLines(store, retry, atEnd);
      journals.push(retried.journal);
      facts = together(facts, factsOf(retry, retried.journal));
    }
    const readLines = async (): Promise<RunLines> => {
      const lines: ReportLines[] = [];
      for (const [index, journal] of journals.entries())
        lines.push((await readRunLines(store, retries[index] as RunRecord, journal)).lines);
      const whole = await readRunLines(store, first, run.journal);
      return { ...whole, lines: joinRetries(whole.lines, lines) };
    };
    return write(store, first, readLines, facts, how);
  });
}

async function write(
  store: RunStore,
  record: RunRecord,
  readLines: () => Promise<RunLines>,
  facts: RunFacts,
  { delimiter, xlsx = false, html = record.options.html ?? true }: ReportOptions,
): Promise<WrittenReports> {
  const folder = store.folder(record.id);
  const read = await readLines();
  await removeXlsxReport(folder);
  const { lines, operations } = read;
  const pageOptions = pageOptionsOf(record, read);
  const { columns, clearToken } = pageOptions.refeed;
  const page = html ? new ReportPage(pageOptions) : undefined;
  const report = await writeReports({
    folder,
    lines,
    isPending: goesOnByItself(record),
    delimiter: delimiter ?? delimiterOf(record),
    ...pageOptions.refeed,
    operations,
    run: { ...facts, ...rateOf(await readRateHistory(folder)) },
    page,
  });
  const { summary, paths } = report;
  if (page === undefined) await removeHtmlReport(folder);
  const htmlPath =
    page && (await writeHtmlReport(folder, await contentOf(page, summary, readLines, pageOptions)));
  const again = xlsx ? await readLines() : undefined;
  const xlsxPath =
    again && (await writeXlsxReport({ folder, lines: again.lines, columns, clearToken, operations }));
  return {
    ...report,
    paths: {
      ...paths,
      ...(htmlPath !== undefined && { html: htmlPath }),
      ...(xlsxPath !== undefined && { xlsx: xlsxPath }),
    },
  };
}

function pageOptionsOf(record: RunRecord, { prepare, operations }: RunLines): ReportPageOptions {
  const { columns } = record.plan;
  const { clearToken } = record.options;
  return {
    refeed: {
      columns,
      clearToken,
      defaults: prepare.defaults,
      fieldOf: prepare.fieldOf,
      known: prepare.known,
    },
    resultColumns: [...new Set(operations.flatMap((operation) => operation.columns))],
    run: pageFactsOf(record),
  };
}

/** Where all rows are too many for a page, only those are in it that did not succeed or are unclear. */
async function contentOf(
  page: ReportPage,
  summary: RunSummary,
  readLines: () => Promise<RunLines>,
  options: ReportPageOptions,
): Promise<PageContent> {
  if (page.selection === 'all') return page.content(summary);
  const troubled = new ReportPage(options, 'troubled');
  for await (const lines of (await readLines()).lines) await troubled.add(lines);
  return troubled.content(summary);
}

function pageFactsOf(record: RunRecord): ReportPageOptions['run'] {
  const { id, states, options } = record;
  const [planned] = states;
  const last = states.at(-1);
  return {
    id,
    state: actualState(record),
    baseUrl: options.baseUrl,
    ...(last !== planned && last?.reason !== undefined && { reason: last.reason }),
    ...(planned?.by !== undefined && { by: `${planned.by.user} on ${planned.by.host}` }),
    ...(planned?.reason !== undefined && { purpose: planned.reason }),
  };
}

/** As the user wants it for this run, else as in its manifest; runs of earlier versions do not say, and had commas. */
export function delimiterOf({ options, manifest }: RunRecord): Delimiter {
  return options.delimiter ?? manifest.delimiter ?? ',';
}

function rateOf(history: RateHistory | undefined): Pick<RunFacts, 'rate'> {
  if (history === undefined) return {};
  const { wanted, limit_per_s, waited_s, rejected, series } = history;
  return { rate: { wanted, limit_per_s, waited_s, rejected, series } };
}

function factsOf(record: RunRecord, journal: JournalView): RunFacts {
  const { name, sha256, givenSha256 } = record.manifest;
  const startedAt = record.states.find(({ state }) => state === 'running')?.at;
  const last = record.states.at(-1);
  const ended = startedAt !== undefined && last?.state !== 'running' && !goesOnByItself(record);
  return {
    id: record.id,
    state: actualState(record),
    manifest: { name, sha256: givenSha256 ?? sha256, leftOut: record.plan.leftOut },
    ...(startedAt !== undefined && { startedAt }),
    ...(ended && last !== undefined && { finishedAt: last.at }),
    activeMs: timeAtWork(record, journal.lastFinishedAt),
    ...(record.retryOf !== undefined && { retryOf: record.retryOf }),
  };
}

/** The facts of a run and of a retry. */
function together({ finishedAt: _, ...run }: RunFacts, { id, finishedAt, activeMs }: RunFacts): RunFacts {
  return {
    ...run,
    activeMs: run.activeMs + activeMs,
    retries: [...(run.retries ?? []), id],
    // While the retry goes on, it is not finished.
    ...(finishedAt !== undefined && { finishedAt }),
  };
}
