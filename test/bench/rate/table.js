// @ts-check
import { aligned } from '../measure/table.js';

/**
 * What happened in each second, and what the governor wanted at its end.
 *
 * @param {readonly import('./world.ts').Second[]} seconds
 */
export function timeline(seconds) {
  return aligned([
    ['s', 'accepted', 'rejected', 'calls/s', 'in flight', 'limit', 'phase', 'reason'],
    ...seconds.map(({ accepted, rejected, pace }, second) => [
      String(second),
      String(accepted),
      String(rejected),
      pace?.rate?.toFixed(1) ?? '',
      String(pace?.concurrency ?? ''),
      pace?.limit?.toFixed(1) ?? '',
      pace?.phase ?? '',
      pace?.reason ?? '',
    ]),
  ]);
}

/**
 * The mean of several simulations, and their range, in percent.
 *
 * @param {readonly number[]} values
 */
export function share(values, digits = 1) {
  if (values.some((value) => !Number.isFinite(value))) return '';
  const text = (/** @type {number} */ value) => (100 * value).toFixed(digits);
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  return `${text(mean)} % (${text(Math.min(...values))}–${text(Math.max(...values))})`;
}
