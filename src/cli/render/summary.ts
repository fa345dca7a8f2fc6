import { basename, dirname } from 'node:path';
import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { type Outcome, type OutcomeCounts, outcomes, totalOf } from '../../domain/terms.ts';
import type { NextStep } from '../../engine/report/next-step.ts';
import { resumeCommand } from '../../engine/report/next-steps.ts';
import type { RatePoint } from '../../engine/report/rate-history.ts';
import type { RunSummary } from '../../engine/report/summary.ts';
import type { ReportPaths } from '../../engine/report/write-reports.ts';
import { endFactsOf } from '../../engine/run/record/ending.ts';
import { endOf, type RunRecord } from '../../engine/run/record/record.ts';
import type { FailedRun } from '../../engine/run/work/run-in-progress.ts';
import { linkedText, type Style, styled } from './style.ts';
import {
  exampleText,
  indentedLine,
  moreText,
  outcomeTexts,
  pendingRows,
  resultTexts,
  styledOutcome,
  styleOf,
  styleOfEnding,
  table,
  unclearRows,
} from './words.ts';

const maxCodes = 10;

interface SummaryTextOptions {
  readonly state: string;
  readonly steps: readonly NextStep[];
  readonly warning?: string | undefined;
  /** Whether the run has stopped, and needs a command to continue. */
  readonly isStopped?: boolean;
  /** The width for charts. Undefined leaves the charts out. */
  readonly columns?: number | undefined;
}

export function summaryText(
  summary: RunSummary,
  paths: ReportPaths,
  { state, steps, warning, isStopped = false, columns }: SummaryTextOptions,
): string {
  const { run, manifest, outcomes, unclear, duration_s: seconds } = summary;
  const time = seconds > 0 ? ` after ${duration(seconds)}` : '';
  const counts = [counted(manifest.rows, 'row'), ...resultTexts(summary)].join(', ');
  return [
    `Run ${run} ${state}${withRetries(summary)}${time}: ${counts}`,
    ...[...(columns === undefined ? [] : chartLines(summary, columns)), ...codeLines(summary)].map(
      indentedLine,
    ),
    manifest.left_out !== undefined && `${counted(manifest.left_out, 'more row')} left out by --where`,
    unclear > 0 && styled('yellow', `${unclearRows(unclear)} (column _unclear)`),
    isStopped && outcomes.pending > 0 && styled('yellow', pendingRows(outcomes.pending)),
    warning !== undefined && styled('yellow', warning),
    filesLine(paths),
    ...stepLines(steps),
  ]
    .filter((line) => line !== false && line !== undefined)
    .join('\n');
}

/** The files of a report: the folder once, then their names, as links where the terminal has them. */
function filesLine({ report, html, xlsx, failed, correct, notAttempted }: ReportPaths): string {
  const files = [html, report, xlsx, failed, correct, notAttempted].filter((path) => path !== undefined);
  const names = files.map((path) => linkedText(path, basename(path)));
  return `Files in ${escapeInvisible(dirname(report))}: ${names.join(', ')}`;
}

/** The color of a run's end: red if it stopped by itself, yellow if it needs a look, green if it did all. */
export function styleOfEnd(record: RunRecord, { outcomes, unclear }: RunSummary): Style {
  const ending = endFactsOf(endOf(record), outcomes);
  const isDoubtful = ending === undefined || (ending.result === 'succeeded' && unclear > 0);
  return isDoubtful ? 'yellow' : styleOfEnding(ending);
}

function withRetries({ retries }: RunSummary): string {
  if (retries.length === 0) return '';
  return ` with its ${retries.length === 1 ? 'retry' : 'retries'} ${retries.join(', ')}`;
}

export function failureText(
  { id, plan, submitted }: RunRecord,
  { counts, isFolderIntact, hasEnded }: FailedRun,
): string {
  const sum = totalOf(counts);
  const results =
    `the results of ${count(sum)} of ${counted(plan.rows, 'row')}` +
    (sum > 0 ? ` (${outcomeTexts(counts).join(', ')})` : '');
  if (!isFolderIntact)
    return `Run ${id} stopped because its folder was changed. Restore the folder; otherwise ${results} are lost.`;
  if (hasEnded) return `Run ${id} ended, and its journal has ${results}. Only the report is missing.`;
  return `Run ${id} stopped. Its journal has ${results}. Continue with: ${resumeCommand({ id, submitted })}`;
}

function codeLines({ codes }: RunSummary): readonly string[] {
  const notable = codes.filter(({ outcome, code }) => outcome !== 'duplicate' && code !== 'OK');
  const shown = notable.toSorted(
    (a, b) => Number(a.outcome === 'succeeded') - Number(b.outcome === 'succeeded'),
  );
  const cells = shown
    .slice(0, maxCodes)
    .map((tally) => [count(tally.count), styledOutcome(tally.outcome), tally.code, detailOf(tally)]);
  const more = shown.length - maxCodes;
  return [...table(cells, [0]), ...(more > 0 ? [`${moreText(more, 'code')}: see summary.json`] : [])];
}

/** What is said of the rows with one code. The message of a row without a result is about its last attempt, if it had one. */
function detailOf(tally: RunSummary['codes'][number]): string {
  const { outcome, called } = tally;
  if (outcome !== 'not_attempted') return exampleText(tally);
  return called === 0
    ? ''
    : `${count(called)} had been refused, and ${called === 1 ? 'was' : 'were'} not processed`;
}

const mostColumns = 60;
/** A run of fewer seconds has no rate curve. */
const fewestSeconds = 5;

function chartLines({ outcomes, rate, retries }: RunSummary, columns: number): readonly string[] {
  const width = Math.min(mostColumns, columns - 3);
  const series = rate?.series ?? [];
  const most = Math.max(0, ...series.map(({ accepted_per_s }) => accepted_per_s));
  const label = `  up to ${perSecond(most)}${retries.length === 0 ? '' : ' without the retries'}`;
  return [
    ...(totalOf(outcomes) === 0 ? [] : [outcomeChart(outcomes, width)]),
    ...(series.length < fewestSeconds || most === 0 ? [] : [rateLine(series, width - label.length) + label]),
  ];
}

/** The blocks of the chart, which differ even without colors. */
const outcomeBlocks: Readonly<Record<Outcome, string>> = {
  succeeded: '█',
  failed: '░',
  invalid: '░',
  duplicate: '▓',
  skipped: '▓',
  not_attempted: '·',
  pending: '?',
};

/** The chart of outcomes. Each outcome that occurs has at least one column. */
export function outcomeChart(counts: OutcomeCounts, columns: number): string {
  const occurring = outcomes.filter((outcome) => counts[outcome] > 0);
  const total = totalOf(counts);
  const widths = new Map(
    occurring.map((outcome) => [outcome, Math.max(1, Math.round((counts[outcome] / total) * columns))]),
  );
  // The widest part absorbs the rounding error.
  const [widest] = occurring.toSorted((a, b) => counts[b] - counts[a]);
  const sum = [...widths.values()].reduce((subtotal, width) => subtotal + width, 0);
  if (widest !== undefined) widths.set(widest, (widths.get(widest) ?? 0) + columns - sum);
  return occurring
    .map((outcome) =>
      styled(styleOf[outcome], outcomeBlocks[outcome].repeat(Math.max(0, widths.get(outcome) ?? 0))),
    )
    .join('');
}

const levels = [...'▁▂▃▄▅▆▇█'];

/** The curve of a run's calls per second. */
export function rateLine(series: readonly RatePoint[], columns: number): string {
  const values = meansOfParts(series, columns);
  const most = Math.max(...values);
  return values
    .map((value) => levels[Math.max(0, Math.ceil((value / most) * levels.length) - 1)] ?? levels[0])
    .join('');
}

/** The means of equal parts of the series. A part without a point repeats the mean before it. */
function meansOfParts(series: readonly RatePoint[], parts: number): readonly number[] {
  const end = series.at(-1)?.t_s ?? 0;
  let mean = 0;
  return Array.from({ length: parts }, (_, part) => {
    const points = series.filter(({ t_s }) => Math.min(parts - 1, Math.floor((t_s / end) * parts)) === part);
    const sum = points.reduce((subtotal, { accepted_per_s }) => subtotal + accepted_per_s, 0);
    if (points.length > 0) mean = sum / points.length;
    return mean;
  });
}

/** The next steps: the first in full, the later ones in a line each. */
export function stepLines(steps: readonly NextStep[]): readonly string[] {
  const notes = steps.filter(({ isNote }) => isNote).map(({ title, text }) => `${title}. ${text}`);
  const [next, ...later] = steps.filter(({ isNote }) => !isNote);
  if (next === undefined) return notes;
  return [
    ...notes,
    `Next: ${titleOf(next)}`,
    ...[next.command, next.text]
      .filter((line) => line !== undefined)
      .map((line) => `  ${escapeInvisible(line)}`),
    ...later
      .map((step) => `Then: ${[titleOf(step), step.command].filter(Boolean).join(': ')}`)
      .map(escapeInvisible),
  ];
}

function titleOf({ title, first }: NextStep): string {
  return escapeInvisible(first === undefined ? title : `${title} (${first})`);
}
