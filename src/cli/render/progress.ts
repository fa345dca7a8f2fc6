import { outcomes } from '../../domain.ts';
import type { ProgressPace, ProgressSnapshot, StalledCalls } from '../../run/progress.ts';
import { clockTime, count, counted, duration, perSecond } from './words.ts';

/**
 * Where a run stands, on one line: `4,512/12,000  4,480 succeeded, 32 failed  640/s  12 s left`.
 *
 * @param trouble what keeps the datastore from answering, if something does.
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { total, done, counts, ratePerSecond, pace, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers, stalled } = snapshot;
  const parts = [
    `${count(done)}/${count(total)} (${Math.floor((done / Math.max(total, 1)) * 100)} %)`,
    outcomes
      .filter((outcome) => counts[outcome] > 0)
      .map((outcome) => `${count(counts[outcome])} ${outcome}`)
      .join(', '),
    `${perSecond(ratePerSecond)}${pace === undefined || waitMs > 0 ? '' : ` of ${paceText(pace)}`}`,
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waitMs > 0 ? waitText(waitMs, pace?.reason) : '',
    stalled === undefined ? '' : stalledText(stalled),
    waiting(),
    etaSeconds === undefined || done === total || paused || waitMs > 0 ? '' : `${duration(etaSeconds)} left`,
  ];
  return parts.filter((part) => part !== '').join('  ');

  function waiting(): string {
    if (trouble !== undefined) return `waiting: ${trouble}`;
    if (paused) return 'paused';
    if (workers === 0 && done < total) return 'waiting for a worker: none calls this API';
    return workers === undefined || workers === 1 ? '' : `${count(workers)} workers`;
  }
}

/** `50/s (limit 50/s, just under the limit)` */
function paceText({ allowedPerSecond, limitPerSecond, reason }: ProgressPace): string {
  const limit = limitPerSecond === undefined ? '' : `limit ${perSecond(limitPerSecond)}`;
  const why = [limit, reason ?? ''].filter((part) => part !== '').join(', ');
  return `${perSecond(allowedPerSecond)}${why === '' ? '' : ` (${why})`}`;
}

/** `1 call in flight for 35 s (time-out 60 s)` */
function stalledText({ calls, oldestMs, timeoutMs }: StalledCalls): string {
  const since = calls === 1 ? ' for' : ', the oldest for';
  const timeout = `time-out ${count(timeoutMs / 1_000)} s`;
  return `${counted(calls, 'call')} in flight${since} ${duration(oldestMs / 1_000)} (${timeout})`;
}

/** A wait of hours is better told with its end. */
function waitText(waitMs: number, reason: string | undefined): string {
  const seconds = Math.ceil(waitMs / 1_000);
  const until = seconds < longWaitSeconds ? '' : `, until ${clockTime(new Date(Date.now() + waitMs))}`;
  return `waiting ${duration(seconds)}${until}${reason === undefined ? '' : ` (${reason})`}`;
}

const longWaitSeconds = 600;
