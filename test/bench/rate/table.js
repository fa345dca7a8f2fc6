// @ts-check
import { aligned } from '../measure/table.js';

/** @typedef {{ readonly title: string, readonly condition: string, readonly runs: readonly import('./world.ts').Figures[] }} Line */

const header = [
  'limiter',
  'answers tell',
  'used',
  'rejected',
  'worst minute',
  '90 % of a rise',
  'after a drop',
];

/**
 * The lines as one Markdown table, aligned for reading as plain text.
 *
 * @param {readonly Line[]} lines
 */
export function table(lines) {
  return aligned([
    header,
    ...lines.map(({ title, condition, runs }) => [
      title,
      condition,
      share(runs.map(({ used }) => used)),
      share(
        runs.map(({ rejected }) => rejected),
        2,
      ),
      share(runs.map(({ worstMinute }) => worstMinute)),
      after(runs.map(({ risenAfter }) => risenAfter)),
      after(runs.map(({ droppedAfter }) => droppedAfter)),
    ]),
  ]);
}

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
 * @param {readonly number[]} values
 * @param {number} [digits]
 */
function share(values, digits = 1) {
  if (values.some((value) => !Number.isFinite(value))) return '';
  return meanAndRange(values, (value) => (100 * value).toFixed(digits), ' %');
}

function after(/** @type {readonly (number | undefined)[]} */ values) {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '';
  // A change that was missed in one simulation has no mean.
  const missed = known.filter((value) => !Number.isFinite(value)).length;
  if (missed > 0) return known.length === 1 ? 'never' : `never in ${missed} of ${known.length}`;
  return meanAndRange(known, (value) => String(Math.round(value)), ' s');
}

/**
 * The mean of several simulations, and their range.
 *
 * @param {readonly number[]} values
 * @param {(value: number) => string} text
 * @param {string} unit
 */
function meanAndRange(values, text, unit) {
  const range = values.length > 1 ? ` (${text(Math.min(...values))}–${text(Math.max(...values))})` : '';
  return `${text(mean(values))}${unit}${range}`;
}

function mean(/** @type {readonly number[]} */ values) {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
