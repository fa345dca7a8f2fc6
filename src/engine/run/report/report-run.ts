import { withScope } from '../../../base/async/scope.ts';
import { hashFile } from '../../../base/disk/hash-file.ts';
import type { Delimiter } from '../../../base/text/delimiter.ts';
import { actorText } from '../../../domain/terms.ts';
import type { JournalView } from '../../journal/journal.ts';
import { isOldName } from '../../operation/field-names.ts';
import { shownRequestIfKnown } from '../../operation/shown-request.ts';
import { readCheck } from '../../report/check-file.ts';
import { writeHtmlReport } from '../../report/html/html-report.ts';
import type { PageContent } from '../../report/html/page-data.ts';
import { ReportPage, type ReportPageOptions } from '../../report/html/report-page.ts';
import { joinRetries, type ReportLines } from '../../report/join-retries.ts';
import type { NextStep } from '../../report/next-step.ts';
import { type RateHistory, readRateHistory } from '../../report/rate-history.ts';
import { type RunRate, type RunSummary, type SummaryHead, Tally } from '../../report/summary.ts';
import { removeReport, type WrittenReports, writeReports } from '../../report/write-reports.ts';
import { writeXlsxReport } from '../../report/xlsx-report.ts';
import type { RowsHead } from '../../rows/head.ts';
import { briefOfRecord } from '../facts/make-facts.ts';
import { type RetriedRun, unfinishedAmong } from '../plan/retries.ts';
import { openRowsWithResults, type RowsWithResults, readRowsWithResults } from '../plan/rows-with-results.ts';
import { currentCheck } from '../record/current-check.ts';
import { endFactsOfRun, goesOnByItself, phaseOf, type RunRecord, stateInWords } from '../record/record.ts';
import { activeTime, stopsOf } from '../record/record-keeper.ts';
import { journalPath, withJournalReader } from '../record/run-journal.ts';
import { adviceOfRun, type ReportedFacts, stepsOfRun } from '../record/run-steps.ts';
import type { RunStore } from '../record/store.ts';
import { laterRetries, retriedFacts } from './retried.ts';

/** Choices of the user that replace the options of the run. */
export interface ReportOptions {
  readonly delimiter?: Delimiter | undefined;
  readonly xlsx?: boolean;
  readonly html?: boolean | undefined;
}

export interface RunReports extends WrittenReports {
  readonly steps: readonly NextStep[];
}

/** The lines of the report. Each call reads them from the first line on. */
type ReadLines = () => Promise<RowsWithResults>;

/** Writes a report even while the run is in progress. */
export async function reportRun(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
  how: ReportOptions = {},
): Promise<RunReports> {
  const readLines = () => readRowsWithResults(store, record, journal);
  const facts = await factsOf(store, record, journal);
  return writeInto(store, store.folder(record.id), record, readLines, facts, how);
}

/** Writes a report like `reportRun`, for a run that is not open. */
export function rewriteReport(store: RunStore, record: RunRecord, how?: ReportOptions): Promise<RunReports> {
  return withJournalReader(store, record, (journal) => reportRun(store, record, journal, how));
}

export async function pageOfRun(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
): Promise<PageContent> {
  const read = await readRowsWithResults(store, record, journal);
  const page = new ReportPage(await pageOptionsOf(store, record, read));
  const tally = new Tally();
  for await (const lines of read.lines) {
    for (const { result } of lines) tally.add(result);
    await page.add(lines);
  }
  const summary = tally.summary(await factsOf(store, record, journal));
  return page.content(summary, await stepsAfter(store, record, summary, read.head));
}

/** The lines of a run and its retries: each row has its result in the latest retry that called it. */
export function reportWithRetries(
  store: RunStore,
  { firstRun, retries }: RetriedRun,
  how: ReportOptions = {},
): Promise<RunReports> {
  return withScope(async (defer) => {
    const run = await openRowsWithResults(store, firstRun, defer);
    let facts = await factsOf(store, firstRun, run.journal);
    const readRetries: ReadLines[] = [];
    for (const retry of retries) {
      const { journal } = await openRowsWithResults(store, retry, defer);
      readRetries.push(() => readRowsWithResults(store, retry, journal));
      facts = together(facts, await factsOf(store, retry, journal));
    }
    const readLines = async (): Promise<RowsWithResults> => {
      const lines: ReportLines[] = [];
      for (const read of readRetries) lines.push((await read()).lines);
      const whole = await readRowsWithResults(store, firstRun, run.journal);
      return { ...whole, lines: joinRetries(whole.lines, lines) };
    };
    const unfinishedRetry = unfinishedAmong(retries);
    return writeInto(store, store.folder(firstRun.id), firstRun, readLines, facts, how, { unfinishedRetry });
  });
}

/** Writes the CSV files and the summary only. */
export async function writeReportTo(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
  { folder, delimiter }: { readonly folder: string; readonly delimiter: Delimiter },
): Promise<WrittenReports> {
  const readLines = () => readRowsWithResults(store, record, journal);
  return writeInto(store, folder, record, readLines, await factsOf(store, record, journal), {
    delimiter,
    html: false,
  });
}

async function writeInto(
  store: RunStore,
  folder: string,
  record: RunRecord,
  readLines: ReadLines,
  run: SummaryHead,
  { delimiter = delimiterOf(record), xlsx = false, html = record.options.html ?? true }: ReportOptions,
  retried?: Awaited<ReturnType<typeof retriedFacts>>,
): Promise<RunReports> {
  const read = await readLines();
  const { lines, head } = read;
  const { operations } = head;
  await removeReport(folder, 'report.xlsx');
  const pageOptions = await pageOptionsOf(store, record, read);
  const { refeed } = pageOptions;
  const page = html ? new ReportPage(pageOptions) : undefined;
  const report = await writeReports({
    folder,
    lines,
    ...refeed,
    operations,
    run: { ...run, delimiter },
    page,
  });
  const { summary, paths } = report;
  if (page === undefined) await removeReport(folder, 'report.html');
  const steps = await stepsAfter(store, record, summary, head, retried);
  const htmlPath = page && (await writeHtmlReport(folder, await page.content(summary, steps)));
  const again = async (): Promise<ReportLines> => (await readLines()).lines;
  const xlsxPath = xlsx
    ? await writeXlsxReport({ folder, readLines: again, ...refeed, operations })
    : undefined;
  return {
    ...report,
    steps,
    paths: {
      ...paths,
      ...(htmlPath !== undefined && { html: htmlPath }),
      ...(xlsxPath !== undefined && { xlsx: xlsxPath }),
    },
  };
}

async function pageOptionsOf(
  store: Pick<RunStore, 'operations' | 'folder' | 'completed'>,
  record: RunRecord,
  { head }: Pick<RowsWithResults, 'head'>,
): Promise<ReportPageOptions> {
  const { operations: loaded, folder } = store;
  const { id, states, options } = record;
  const { columns, clear_token, defaults, operations } = head;
  const [planned] = states;
  const last = states.at(-1);
  const manner = endFactsOfRun(record)?.manner;
  return {
    refeed: { columns, clear_token, defaults },
    operations,
    sharesRate: record.queue !== undefined,
    check: await readCheck(folder(id)),
    ofThisRun: (advice) => adviceOfRun(store, record, advice),
    requestOf: (row) => shownRequestIfKnown(loaded, { ...row, operation: row.operation.name }),
    run: {
      id,
      state: stateInWords(record),
      phase: phaseOf(record),
      ...(manner !== undefined && { manner }),
      baseUrl: options.baseUrl,
      ...(last !== planned && last?.reason !== undefined && { reason: last.reason }),
      ...(planned?.by !== undefined && { by: actorText(planned.by) }),
      ...(planned?.reason !== undefined && { purpose: planned.reason }),
      stops: stopsOf(record),
    },
  };
}

/** The next steps of a report that has this summary. @param retried if the summary has the results of the retries */
export async function stepsAfter(
  store: RunStore,
  record: RunRecord,
  { outcomes, unclear, codes, retry_of, retries }: Omit<RunSummary, 'rate'>,
  head: RowsHead,
  retried?: Awaited<ReturnType<typeof retriedFacts>>,
): Promise<readonly NextStep[]> {
  const open = outcomes.failed + outcomes.not_attempted;
  const mayBeRetried = open > 0 && phaseOf(record) !== 'in progress';
  const later = mayBeRetried ? await laterRetries(store, record) : [];
  return stepsOfRun(store, record, {
    outcomes,
    unclear,
    codes,
    undo: undoOf(head),
    check: unclear > 0 ? await currentCheck(store, record, later) : undefined,
    isPartOfOthers: retry_of !== null && retries.length === 0,
    ...(retried ?? (await retriedFacts(store, record, later))),
  });
}

/** What an undo of the run could put back. Undefined if no old value is known. */
function undoOf({ compared, columns, operations }: RowsHead): ReportedFacts['undo'] {
  if (compared !== undefined || columns.some(({ field }) => field !== undefined && isOldName(field)))
    return 'values';
  return operations.some(({ fields }) => !fields.some(({ undoable }) => undoable)) ? 'list' : undefined;
}

export function delimiterOf({ options, manifest }: RunRecord): Delimiter {
  return options.delimiter ?? manifest.delimiter ?? ',';
}

async function factsOf(store: RunStore, record: RunRecord, journal: JournalView): Promise<SummaryHead> {
  const { states, plan, retryOf } = record;
  const { sha256 } = record.manifest;
  const { id, state, startedAt, manifest: name } = briefOfRecord(record);
  const last = states.at(-1);
  const hasEnded = startedAt !== undefined && last?.state !== 'running' && !goesOnByItself(record);
  const history = await readRateHistory(store.folder(id));
  return {
    run: id,
    state,
    manifest: {
      name,
      sha256,
      ...(plan.leftOut !== undefined && { left_out: plan.leftOut }),
    },
    started_at: startedAt ?? null,
    finished_at: hasEnded ? (last?.at ?? null) : null,
    activeMs: activeTime(record, journal.lastFinishedAt),
    rate: history === undefined ? null : rateOf(history),
    retry_of: retryOf ?? null,
    retries: [],
    delimiter: delimiterOf(record),
    digests: goesOnByItself(record) ? null : await digestsOf(store, record),
  };
}

/** The digests of rows and journal, for a reader elsewhere who can compare the files. */
async function digestsOf(store: RunStore, record: RunRecord): Promise<SummaryHead['digests']> {
  const journal = await hashFile(journalPath(store.folder(record.id)));
  return { rows: record.rows.sha256, journal: journal.sha256 };
}

function rateOf({ wanted, limit_per_s, waited_s, rejected, series, starts }: RateHistory): RunRate {
  return { wanted, limit_per_s, waited_s, rejected, series, starts };
}

/** The facts of a run and its retries together. While a retry is in progress, the run is unfinished. */
function together(run: SummaryHead, { run: id, finished_at, activeMs }: SummaryHead): SummaryHead {
  return { ...run, finished_at, activeMs: run.activeMs + activeMs, retries: [...run.retries, id] };
}
