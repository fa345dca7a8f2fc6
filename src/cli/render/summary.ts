import { totalOf } from '../../domain.ts';
import type { RunSummary } from '../../report/summary.ts';
import type { ReportPaths } from '../../report/write-reports.ts';
import type { RunRecord } from '../../run/record/record.ts';
import type { FailedRun } from '../../run/session/execution-options.ts';
import { count, counted, duration, perSecond } from '../../text/quantities.ts';
import { outcomeChart, rateLine, styleOf } from './chart.ts';
import { styled } from './style.ts';
import { indented, outcomeTexts, table } from './words.ts';

const maxCodes = 10;

/**
 * What a run came to, for people: counts, the reasons of what did not succeed, and where to read on.
 *
 * @param columns of the screen, on which there are pictures, too
 */
export function summaryText(
  summary: RunSummary,
  paths: ReportPaths,
  next: readonly string[],
  columns?: number,
): string {
  const { rows, left_out: leftOut } = summary.manifest;
  return [
    `Run ${summary.run} ${summary.state}${withRetries(summary)}${summary.duration_s > 0 ? ` after ${duration(summary.duration_s)}` : ''}: ` +
      `${counted(rows, 'row')}, ${outcomeTexts(summary.outcomes).join(', ')}`,
    ...(columns === undefined ? [] : pictures(summary, columns)),
    ...codeLines(summary),
    ...(leftOut === undefined ? [] : [`${counted(leftOut, 'more row')} of the manifest left out by --where`]),
    ...(summary.unclear > 0
      ? [
          `${counted(summary.unclear, 'row')} with an attempt that may have been processed unseen (column _unclear)`,
        ]
      : []),
    ...table([
      ['Report:', paths.report],
      ...(paths.html === undefined ? [] : [['To look at:', paths.html]]),
      ...(paths.xlsx === undefined ? [] : [['Excel:', paths.xlsx]]),
      ...(paths.failed === undefined ? [] : [['To mend:', paths.failed]]),
      ...(paths.notAttempted === undefined ? [] : [['Not sent:', paths.notAttempted]]),
      ...next.map((command, index) => [index === 0 ? 'Next:' : '', command]),
    ]),
  ].join('\n');
}

/** ` with its retry b`, ` with its retries b, c`, or nothing. */
function withRetries({ retries }: RunSummary): string {
  if (retries.length === 0) return '';
  return ` with its ${retries.length === 1 ? 'retry' : 'retries'} ${retries.join(', ')}`;
}

/** What a run that has failed leaves behind. */
export function failureText({ id, plan }: RunRecord, { counts, intact, ended }: FailedRun): string {
  const sum = totalOf(counts);
  const results =
    `the results of ${count(sum)} of ${counted(plan.rows, 'row')}` +
    (sum > 0 ? ` (${outcomeTexts(counts).join(', ')})` : '');
  if (!intact)
    return `Run ${id} has stopped, and its folder is not as it was. Unless you put it back, ${results} are lost.`;
  if (ended) return `Run ${id} has ended; its journal has ${results}. Only the report is missing.`;
  return `Run ${id} has stopped; its journal has ${results}. Go on with: cqbatch resume ${id}`;
}

const mostColumns = 60;
/** Of less than so many seconds there is no course of the rate to be seen. */
const fewestSeconds = 5;

/** The outcomes as a bar, and how the rate went. */
function pictures({ outcomes, rate, retries }: RunSummary, columns: number): readonly string[] {
  const width = Math.min(mostColumns, columns - 3);
  const series = rate?.series ?? [];
  const most = Math.max(0, ...series.map(({ accepted_per_s }) => accepted_per_s));
  const label = `  up to ${perSecond(most)}${retries.length === 0 ? '' : ' without the retries'}`;
  return [
    ...(totalOf(outcomes) === 0 ? [] : [outcomeChart(outcomes, width)]),
    ...(series.length < fewestSeconds || most === 0 ? [] : [rateLine(series, width - label.length) + label]),
  ].map((line) => `  ${line}`);
}

function codeLines({ codes }: RunSummary): readonly string[] {
  const notable = codes.filter(({ outcome, code }) => outcome !== 'duplicate' && code !== 'OK');
  // What failed comes first, whatever else is worth a word after it.
  const shown = notable.toSorted(
    (a, b) => Number(a.outcome === 'succeeded') - Number(b.outcome === 'succeeded'),
  );
  const lines = table(
    shown
      .slice(0, maxCodes)
      .map(({ outcome, code, count: rows, message, row }) => [
        count(rows),
        styled(styleOf[outcome], outcome.replace('_', ' ')),
        code,
        `${message === '' ? '' : `${message} `}(row ${row})`,
      ]),
    [0],
  );
  const more = shown.length - maxCodes;
  return [
    indented(lines),
    ...(more > 0 ? [`  … and ${counted(more, 'more code')}: see summary.json`] : []),
  ].filter((line) => line !== '');
}
