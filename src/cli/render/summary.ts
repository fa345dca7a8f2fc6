import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { type Outcome, type OutcomeCounts, outcomes, totalOf } from '../../domain/terms.ts';
import type { RatePoint } from '../../engine/report/rate-history.ts';
import type { RunSummary } from '../../engine/report/summary.ts';
import type { ReportPaths } from '../../engine/report/write-reports.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import type { FailedRun } from '../../engine/run/session/execution-options.ts';
import { styled } from './style.ts';
import {
  factLines,
  moreText,
  movedIn,
  outcomeTexts,
  pendingRows,
  resultTexts,
  styledOutcome,
  styleOf,
  table,
  unclearRows,
} from './words.ts';

const maxCodes = 10;

interface SummaryTextOptions {
  readonly state: string;
  /** Commands to type. */
  readonly next: readonly string[];
  readonly warning?: string | undefined;
  /** The run does not go on by itself. */
  readonly isStopped?: boolean;
  /** Undefined leaves the charts out. */
  readonly columns?: number | undefined;
}

export function summaryText(
  summary: RunSummary,
  paths: ReportPaths,
  { state, next, warning, isStopped = false, columns }: SummaryTextOptions,
): string {
  const { run, manifest, outcomes, unclear, duration_s: seconds } = summary;
  const time = seconds > 0 ? ` after ${duration(seconds)}` : '';
  const counts = [counted(manifest.rows, 'row'), ...resultTexts(summary)].join(', ');
  return [
    `Run ${run} ${state}${withRetries(summary)}${time}: ${counts}`,
    ...[...(columns === undefined ? [] : pictures(summary, columns)), ...codeLines(summary)].map(movedIn),
    manifest.left_out !== undefined && `${counted(manifest.left_out, 'more row')} left out by --where`,
    unclear > 0 && `${unclearRows(unclear)} (column _unclear)`,
    isStopped && outcomes.pending > 0 && pendingRows(outcomes.pending),
    warning,
    ...factLines([
      ['Report:', paths.report],
      ['HTML report:', paths.html],
      ['Excel report:', paths.xlsx],
      ['Failed rows:', paths.failed],
      ['Not attempted:', paths.notAttempted],
      ['Next:', next],
    ]),
  ]
    .filter((line) => line !== false && line !== undefined)
    .join('\n');
}

function withRetries({ retries }: RunSummary): string {
  if (retries.length === 0) return '';
  return ` with its ${retries.length === 1 ? 'retry' : 'retries'} ${retries.join(', ')}`;
}

export function failureText({ id, plan }: RunRecord, { counts, intact, ended }: FailedRun): string {
  const sum = totalOf(counts);
  const results =
    `the results of ${count(sum)} of ${counted(plan.rows, 'row')}` +
    (sum > 0 ? ` (${outcomeTexts(counts).join(', ')})` : '');
  if (!intact)
    return `Run ${id} stopped because its folder was changed. Restore the folder; otherwise ${results} are lost.`;
  if (ended) return `Run ${id} ended, and its journal has ${results}. Only the report is missing.`;
  return `Run ${id} stopped. Its journal has ${results}. Continue with: cqbatch resume ${id}`;
}

function codeLines({ codes }: RunSummary): readonly string[] {
  const notable = codes.filter(({ outcome, code }) => outcome !== 'duplicate' && code !== 'OK');
  const shown = notable.toSorted(
    (a, b) => Number(a.outcome === 'succeeded') - Number(b.outcome === 'succeeded'),
  );
  const cells = shown
    .slice(0, maxCodes)
    .map(({ outcome, code, count: rows, message, row }) => [
      count(rows),
      styledOutcome(outcome),
      code,
      `${message === '' ? '' : `${message} `}(row ${row})`,
    ]);
  const more = shown.length - maxCodes;
  return [...table(cells, [0]), ...(more > 0 ? [`${moreText(more, 'code')}: see summary.json`] : [])];
}

const mostColumns = 60;
/** A shorter run has no rate curve. */
const fewestSeconds = 5;

function pictures({ outcomes, rate, retries }: RunSummary, columns: number): readonly string[] {
  const width = Math.min(mostColumns, columns - 3);
  const series = rate?.series ?? [];
  const most = Math.max(0, ...series.map(({ accepted_per_s }) => accepted_per_s));
  const label = `  up to ${perSecond(most)}${retries.length === 0 ? '' : ' without the retries'}`;
  return [
    ...(totalOf(outcomes) === 0 ? [] : [outcomeChart(outcomes, width)]),
    ...(series.length < fewestSeconds || most === 0 ? [] : [rateLine(series, width - label.length) + label]),
  ];
}

/** Distinct without colors. */
const blocks: Readonly<Record<Outcome, string>> = {
  succeeded: '█',
  failed: '░',
  invalid: '░',
  duplicate: '▓',
  skipped: '▓',
  not_attempted: '·',
  pending: '?',
};

/** Each outcome that occurs has at least one column. */
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
    .map((outcome) => styled(styleOf[outcome], blocks[outcome].repeat(Math.max(0, widths.get(outcome) ?? 0))))
    .join('');
}

const levels = [...'▁▂▃▄▅▆▇█'];

/** Calls per second. */
export function rateLine(series: readonly RatePoint[], columns: number): string {
  const values = resampled(series, columns);
  const most = Math.max(...values);
  return values
    .map((value) => levels[Math.max(0, Math.ceil((value / most) * levels.length) - 1)] ?? levels[0])
    .join('');
}

/** A part without a point repeats the previous mean. */
function resampled(series: readonly RatePoint[], parts: number): readonly number[] {
  const end = series.at(-1)?.t_s ?? 0;
  let mean = 0;
  return Array.from({ length: parts }, (_, part) => {
    const points = series.filter(({ t_s }) => Math.min(parts - 1, Math.floor((t_s / end) * parts)) === part);
    const sum = points.reduce((subtotal, { accepted_per_s }) => subtotal + accepted_per_s, 0);
    if (points.length > 0) mean = sum / points.length;
    return mean;
  });
}
