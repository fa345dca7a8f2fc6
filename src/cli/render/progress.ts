import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { type Pace, restAdvice } from '../../domain/pace.ts';
import { percentOf } from '../../domain/terms.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { unservedText } from '../../engine/run/record/run-view.ts';
import type { CanaryResults } from '../../engine/run/session/canary.ts';
import type { ProgressSnapshot, StalledCalls } from '../../engine/run/session/progress.ts';
import { clockTime, indented, moreText, outcomeTexts, styledOutcome, table } from './words.ts';

/** A second line says how the user can end a wait. */
export function progressLines(
  snapshot: ProgressSnapshot,
  { id, options }: Pick<RunRecord, 'id' | 'options'>,
  trouble?: string,
): readonly string[] {
  const isUnserved = snapshot.workers === 0 && snapshot.done < snapshot.rows && !snapshot.paused;
  const advice = isUnserved
    ? `waiting ${unservedText(options)}`
    : snapshot.pace && restAdvice(snapshot.pace, id);
  return [progressLine(snapshot, trouble), ...(advice === undefined ? [] : [advice])];
}

/**
 * `4,512/12,000 (38 %)  12 s left  4,480 succeeded, 32 failed  640/s`. A narrow screen may cut off the end.
 *
 * @param trouble why the datastore does not answer
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { rows, done, counts, rowsPerSecond, pace, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers, stalled } = snapshot;
  return [
    `${count(done)}/${count(rows)} (${percentOf(done, rows)} %)`,
    etaSeconds === undefined || done === rows || paused || waitMs > 0 ? '' : `${duration(etaSeconds)} left`,
    outcomeTexts(counts).join(', '),
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waiting(),
    `${perSecond(rowsPerSecond)}${pace === undefined || waitMs > 0 ? '' : paceText(pace)}`,
    waitMs > 0 ? waitText(waitMs, reasonOf(pace)) : '',
    stalled === undefined ? '' : stalledText(stalled),
  ]
    .filter((part) => part !== '')
    .join('  ');

  function waiting(): string {
    if (trouble !== undefined) return `waiting: ${trouble}`;
    if (paused) return 'paused';
    if (workers === 0 && done < rows) return 'waiting for a worker';
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

/** A longer wait is shown as the time when it ends. */
const longWaitSeconds = 600;

function waitText(waitMs: number, reason: string): string {
  const seconds = Math.ceil(waitMs / 1_000);
  const until = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(Date.now() + waitMs))}`;
  return `waiting ${duration(seconds)}${until}${reason === '' ? '' : ` (${reason})`}`;
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
