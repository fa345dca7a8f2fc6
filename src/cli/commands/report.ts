import type { Defer } from '../../base/async/scope.ts';
import { usageError } from '../../base/errors/errors.ts';
import { commandsOf, resumeCommand } from '../../engine/report/next-steps.ts';
import { settleDeadRun } from '../../engine/run/feed/reconcile.ts';
import { findRetries, unfinishedAmong } from '../../engine/run/plan/retries.ts';
import {
  actualState,
  goesOnByItself,
  isResumable,
  type RunRecord,
  stateInWords,
} from '../../engine/run/record/record.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import {
  type ReportOptions,
  type RunReports,
  reportWithRetries,
  rewriteReport,
} from '../../engine/run/report/report-run.ts';
import { anyRun, findRecord } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { styled } from '../render/style.ts';
import { styleOfEnd, summaryText } from '../render/summary.ts';
import { type Terminal, warningOfLasting } from '../terminal.ts';
import { openPage } from './open-page.ts';

export async function report(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const { terminal, store, settings } = context;
  const { delimiter } = settings;
  if (flags.open && flags.html === false)
    throw usageError('INVALID_SETTING', '--open needs the page that --no-html leaves out: use one of them.');
  const reportOptions = { delimiter, xlsx: wantsXlsx(flags), html: flags.open ?? flags.html };
  const record = await settledRun(context, await findRecord(store, id, anyRun));
  let reports: RunReports;
  if (flags.withRetries) {
    const { firstRun, retries } = await findRetries(store, record);
    const retried = {
      firstRun: await settledRun(context, firstRun),
      retries: await settledRuns(context, retries),
    };
    const unfinished = unfinishedAmong(retried.retries);
    if (unfinished !== undefined) {
      terminal.warn(
        `warning: run ${unfinished.id}, one of the retries, is ${actualState(unfinished)} and may still call rows: finish ` +
          'or cancel it before you feed files back.',
      );
    }
    reports = await reportWithRetries(store, retried, reportOptions);
    printReport(terminal, retried.firstRun, reports);
  } else reports = await printNewReport(terminal, store, record, reportOptions);
  if (flags.open) openPage(terminal, reports.paths.html ?? '');
  return exitCodes.success;
}

/** Completes the journal of a run whose process died, if possible. */
async function settledRun({ terminal, store, datastore }: Context, record: RunRecord): Promise<RunRecord> {
  const { id } = record;
  if (datastore.queue !== undefined) return record;
  try {
    const open = (defer: Defer) => datastore.open(`report ${id}`, defer);
    return await settleDeadRun(store, record, open, warningOfLasting(terminal));
  } catch (error) {
    terminal.warn(
      `warning: it is not known which of its last rows run ${id} has called: ${(error as Error).message} They are pending ` +
        `until "${resumeCommand(record)}" finds out.`,
    );
    return record;
  }
}

async function settledRuns(context: Context, records: readonly RunRecord[]): Promise<readonly RunRecord[]> {
  const settledRecords: RunRecord[] = [];
  for (const record of records) settledRecords.push(await settledRun(context, record));
  return settledRecords;
}

function wantsXlsx({ format = 'csv' }: Flags): boolean {
  if (format === 'csv' || format === 'xlsx') return format === 'xlsx';
  throw usageError('INVALID_SETTING', `--format "${format}": use csv or xlsx.`);
}

export async function printNewReport(
  terminal: Terminal,
  store: RunStore,
  record: RunRecord,
  options: ReportOptions = {},
): Promise<RunReports> {
  const reports = await rewriteReport(store, record, options);
  printReport(terminal, record, reports);
  return reports;
}

export function printReport(
  terminal: Terminal,
  record: RunRecord,
  { summary, paths, steps }: RunReports,
): void {
  const state = actualState(record);
  const mayBeFedTwice = isResumable(state) && !goesOnByItself(record);
  terminal.result(
    {
      run: record.id,
      state,
      summary,
      files: {
        report: paths.report,
        summary: paths.summary,
        failed: paths.failed ?? null,
        correct: paths.correct ?? null,
        not_attempted: paths.notAttempted ?? null,
        xlsx: paths.xlsx ?? null,
        html: paths.html ?? null,
      },
      next: commandsOf(steps),
    },
    summaryText(summary, paths, {
      state: styled(styleOfEnd(record, summary), stateInWords(record)),
      steps,
      warning: mayBeFedTwice
        ? terminal.completed(
            `Resume this run or rerun its CSV files, never both. Before a rerun: cqbatch cancel ${record.id}`,
          )
        : undefined,
      isStopped: !goesOnByItself(record),
      columns: terminal.columns,
    }),
  );
}
