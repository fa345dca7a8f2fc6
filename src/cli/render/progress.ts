import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { type Pace, restAdvice } from '../../domain/pace.ts';
import { type OutcomeCounts, percentOf, totalOf } from '../../domain/terms.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { unservedText } from '../../engine/run/record/run-view.ts';
import type { CanaryResults } from '../../engine/run/work/canary.ts';
import type { ProgressSnapshot, StalledCalls } from '../../engine/run/work/progress.ts';
import { styled, widthOf } from './style.ts';
import { outcomeChart } from './summary.ts';
import { awayText, waitText } from './waits.ts';
import { indented, moreText, outcomeTexts, styledOutcome, table } from './words.ts';

/**
 * A second line says why no row is called, and how the user can end a wait.
 *
 * @param columns of the screen, for a bar; undefined where lines stay
 */
export function progressLines(
  snapshot: ProgressSnapshot,
  { id, options }: Pick<RunRecord, 'id' | 'options'>,
  { trouble, columns }: { readonly trouble?: string | undefined; readonly columns?: number | undefined } = {},
): readonly string[] {
  const { workers, done, rows, counts, paused, pace } = snapshot;
  const bar = columns === undefined ? '' : `${progressBar(counts, rows, Math.floor(columns / 6))}  `;
  const isUnserved = workers === 0 && done < rows && !paused;
  const away = awayText(pace);
  const advice = isUnserved
    ? styled('yellow', `waiting ${unservedText(options)}`)
    : pace && restAdvice(pace, id);
  return [
    bar + progressLine(snapshot, trouble),
    ...(away === undefined ? [] : [`${away} ${styled('yellow', 'Ctrl-C loses nothing.')}`]),
    ...(advice === undefined ? [] : [advice]),
  ];
}

/** Empty where rows are still to be called. */
function progressBar(counts: OutcomeCounts, rows: number, columns: number): string {
  const part = rows === 0 ? 0 : Math.floor((totalOf(counts) / rows) * columns);
  const kinds = Object.values(counts).filter((count) => count > 0).length;
  const done = outcomeChart(counts, Math.max(part, kinds));
  return done + styled('dim', '·'.repeat(Math.max(0, columns - widthOf(done))));
}

/**
 * `4,512/12,000 (38 %)  12 s left  4,480 succeeded, 32 failed  640/s`
 *
 * @param trouble why the datastore does not answer
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { rows, done, counts, rowsPerSecond, pace, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers, stalled, ahead } = snapshot;
  const isAway = pace?.away !== undefined;
  const waits = isAway ? 0 : waitMs;
  return [
    `${count(done)}/${count(rows)} (${percentOf(done, rows)} %)`,
    etaSeconds === undefined || done === rows || paused || isAway || waitMs > 0
      ? ''
      : `${duration(etaSeconds)} left`,
    outcomeTexts(counts).join(', '),
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waiting(),
    `${perSecond(rowsPerSecond)}${pace === undefined || isAway || waitMs > 0 ? '' : paceText(pace)}`,
    waits > 0 ? waitText(waits, reasonOf(pace)) : '',
    stalled === undefined || isAway ? '' : stalledText(stalled),
  ]
    .filter((part) => part !== '')
    .join('  ');

  function waiting(): string {
    if (trouble !== undefined) return styled('yellow', `waiting: ${trouble}`);
    if (paused) return styled('yellow', 'paused');
    if (workers === 0 && done < rows) return styled('yellow', 'waiting for a worker');
    if (ahead !== undefined && done < rows) return styled('yellow', `waits ${ahead}`);
    return workers === undefined || workers === 1 ? '' : counted(workers, 'worker');
  }
}

/** ` of 50/s (limit 50/s, just under the limit)`; empty for an unlimited rate. */
function paceText(pace: Pace): string {
  if (pace.rate === undefined) return '';
  const limit = pace.limit === undefined ? '' : `limit ${perSecond(pace.limit)}`;
  const why = [limit, reasonOf(pace)].filter((part) => part !== '').join(', ');
  return ` of ${perSecond(pace.rate)}${why === '' ? '' : ` (${why})`}`;
}

/** Empty while calls have the rate that the user requested. */
function reasonOf(pace: Pace | undefined): string {
  if (pace === undefined) return '';
  const isRequested = pace.phase === 'fixed' && pace.boundBy === undefined && pace.restUntil === undefined;
  return isRequested ? '' : pace.reason;
}

/** `1 call in flight for 35 s (timeout 60 s)` */
function stalledText({ calls, oldestMs, timeoutMs }: StalledCalls): string {
  const since = calls === 1 ? ' for' : ', the oldest for';
  const timeout = `timeout ${count(timeoutMs / 1_000)} s`;
  return `${counted(calls, 'call')} in flight${since} ${duration(oldestMs / 1_000)} (${timeout})`;
}

const maxRows = 30;

/** Failed rows come first if not all can be shown. */
export function canaryText({ rows, failed }: CanaryResults): string {
  const shown =
    rows.length <= maxRows
      ? rows
      : rows.toSorted(
          (a, b) => Number(b.result.outcome === 'failed') - Number(a.result.outcome === 'failed'),
        );
  const lines = table(
    [
      ['row', 'identifier', 'outcome', 'code', 'message'],
      ...shown
        .slice(0, maxRows)
        .map(({ result, subject }) => [
          count(result.row),
          subject,
          styledOutcome(result.outcome),
          result.code,
          result.message,
        ]),
    ],
    [0],
  );
  const more = rows.length - maxRows;
  return [
    `Canary: ${counted(rows.length, 'row')}, ${count(failed)} failed`,
    indented(lines),
    ...(more > 0 ? [`  ${moreText(more, 'row')}`] : []),
  ].join('\n');
}
