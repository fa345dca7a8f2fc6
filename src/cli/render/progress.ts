import { percentOf } from '../../domain.ts';
import type { Pace } from '../../pace.ts';
import type { ProgressSnapshot, StalledCalls } from '../../run/session/progress.ts';
import { count, counted, duration, perSecond } from '../../text/quantities.ts';
import { clockTime, outcomeTexts } from './words.ts';

/**
 * Where a run stands, on one line: `4,512/12,000  4,480 succeeded, 32 failed  640/s  12 s left`.
 *
 * @param trouble what keeps the datastore from answering, if something does.
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { rows, done, counts, rowsPerSecond, pace, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers, stalled } = snapshot;
  const parts = [
    `${count(done)}/${count(rows)} (${percentOf(done, rows)} %)`,
    outcomeTexts(counts).join(', '),
    `${perSecond(rowsPerSecond)}${pace === undefined || waitMs > 0 ? '' : paceText(pace)}`,
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waitMs > 0 ? waitText(waitMs, reasonOf(pace)) : '',
    stalled === undefined ? '' : stalledText(stalled),
    waiting(),
    etaSeconds === undefined || done === rows || paused || waitMs > 0 ? '' : `${duration(etaSeconds)} left`,
  ];
  return parts.filter((part) => part !== '').join('  ');

  function waiting(): string {
    if (trouble !== undefined) return `waiting: ${trouble}`;
    if (paused) return 'paused';
    if (workers === 0 && done < rows) return 'waiting for a worker: none calls this API';
    return workers === undefined || workers === 1 ? '' : counted(workers, 'worker');
  }
}

/** ` of 50/s (limit 50/s, just under the limit)`; nothing where the rate is not limited. */
function paceText(pace: Pace): string {
  if (pace.rate === undefined) return '';
  const limit = pace.limit === undefined ? '' : `limit ${perSecond(pace.limit)}`;
  const why = [limit, reasonOf(pace)].filter((part) => part !== '').join(', ');
  return ` of ${perSecond(pace.rate)}${why === '' ? '' : ` (${why})`}`;
}

/** Nothing where the user has asked for the rate, unless it is that of another run. */
function reasonOf(pace: Pace | undefined): string {
  return pace === undefined || (pace.phase === 'fixed' && pace.boundBy === undefined) ? '' : pace.reason;
}

/** `1 call in flight for 35 s (time-out 60 s)` */
function stalledText({ calls, oldestMs, timeoutMs }: StalledCalls): string {
  const since = calls === 1 ? ' for' : ', the oldest for';
  const timeout = `time-out ${count(timeoutMs / 1_000)} s`;
  return `${counted(calls, 'call')} in flight${since} ${duration(oldestMs / 1_000)} (${timeout})`;
}

/** A wait of hours is better told with its end. */
function waitText(waitMs: number, reason: string): string {
  const seconds = Math.ceil(waitMs / 1_000);
  const until = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(Date.now() + waitMs))}`;
  return `waiting ${duration(seconds)}${until}${reason === '' ? '' : ` (${reason})`}`;
}

const longWaitSeconds = 600;
