// @ts-check
import { compare, median } from './samples.js';

/**
 * One line of the table: what was measured, ours beside its reference, turn by turn.
 *
 * @typedef {object} Line
 * @property {string} title
 * @property {'rows/s' | 'calls/s' | 'calls' | 's' | 'ms' | 'µs' | 'MB' | '%'} unit of the samples
 * @property {readonly number[]} ours
 * @property {readonly number[]} reference
 * @property {string} referenceName
 * @property {Comparison} comparison
 * @property {Goal} [goal] for the median of the comparisons; absent where the line is for orientation only
 */

/**
 * How ours is compared with the reference. A share is a ratio in percent; a value is ours itself, for goals that do not
 * depend on the reference.
 *
 * @typedef {'ratio' | 'share' | 'difference' | 'value'} Comparison
 */

/** @typedef {{ readonly atLeast: number } | { readonly atMost: number }} Goal */

/**
 * The verdict on a line.
 *
 * @typedef {object} Verdict
 * @property {number} ours median
 * @property {number} reference median
 * @property {number} compared median of the comparisons, which is not the comparison of the medians
 * @property {number} lowest of the comparisons
 * @property {number} highest of the comparisons
 * @property {boolean | undefined} met undefined without a goal
 */

/**
 * @param {Line} line
 * @returns {Verdict}
 */
export function judge({ ours, reference, comparison, goal }) {
  const comparisons = compare(comparison, ours, reference);
  const compared = median(comparisons);
  return {
    ours: median(ours),
    reference: median(reference),
    compared,
    lowest: Math.min(...comparisons),
    highest: Math.max(...comparisons),
    met: goal && ('atLeast' in goal ? compared >= goal.atLeast : compared <= goal.atMost),
  };
}
