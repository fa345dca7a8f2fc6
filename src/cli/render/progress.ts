import { outcomes } from '../../domain.ts';
import type { ProgressSnapshot } from '../../run/progress.ts';
import { count, duration, perSecond } from './words.ts';

/**
 * Where a run stands, on one line: `4,512/12,000  4,480 succeeded, 32 failed  640/s  12 s left`.
 *
 * @param trouble what keeps the datastore from answering, if something does.
 */
export function progressLine(snapshot: ProgressSnapshot, trouble?: string): string {
  const { total, done, counts, ratePerSecond, allowedPerSecond, waitMs, retrying, etaSeconds } = snapshot;
  const { paused, workers } = snapshot;
  const allowed = allowedPerSecond === undefined ? '' : ` of ${perSecond(allowedPerSecond)}`;
  const parts = [
    `${count(done)}/${count(total)} (${Math.floor((done / Math.max(total, 1)) * 100)} %)`,
    outcomes
      .filter((outcome) => counts[outcome] > 0)
      .map((outcome) => `${count(counts[outcome])} ${outcome}`)
      .join(', '),
    `${perSecond(ratePerSecond)}${allowed}`,
    retrying > 0 ? `${count(retrying)} retrying` : '',
    waitMs > 0 ? `API asked to wait ${duration(Math.ceil(waitMs / 1_000))}` : '',
    waiting(),
    etaSeconds === undefined || done === total || paused ? '' : `${duration(etaSeconds)} left`,
  ];
  return parts.filter((part) => part !== '').join('  ');

  function waiting(): string {
    if (trouble !== undefined) return `waiting: ${trouble}`;
    if (paused) return 'paused';
    if (workers === 0 && done < total) return 'waiting for a worker: none calls this API';
    return workers === undefined || workers === 1 ? '' : `${count(workers)} workers`;
  }
}
