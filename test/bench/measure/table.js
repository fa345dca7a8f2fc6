// @ts-check
import { judge } from './line.js';

/** @typedef {import('./line.js').Line} Line */

const header = ['scenario', 'ours', 'reference', 'compared (range)', 'goal', 'met'];

/**
 * The lines as one Markdown table, aligned for reading as plain text.
 *
 * @param {readonly Line[]} lines
 */
export function table(lines) {
  return aligned([header, ...lines.map(recordOf)]);
}

/** @param {readonly (readonly string[])[]} records the first is the header */
export function aligned([header = [], ...records]) {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...records.map((cells) => [...(cells[column] ?? '')].length)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  return [header, rule, ...records]
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`)
    .join('');
}

/** @param {Line} line */
function recordOf(line) {
  const { title, unit, referenceName, comparison, goal } = line;
  const { ours, reference, compared, lowest, highest, met } = judge(line);
  const number = { ratio, share, difference, value: rounded }[comparison];
  const measure = { ratio: '', share: ' %', difference: ` ${unit}`, value: ` ${unit}` }[comparison];
  const show = (/** @type {number} */ value) => `${number(value)}${measure}`;
  const range = line.ours.length === 1 ? '' : `${number(lowest)}–${number(highest)}`;
  return [
    title,
    `${rounded(ours)} ${unit}`,
    `${rounded(reference)} ${unit} ${referenceName}`,
    // A value is ours itself, which stands before.
    comparison === 'value' ? range && `${range}${measure}` : `${show(compared)}${range && ` (${range})`}`,
    goal === undefined ? '' : 'atLeast' in goal ? `≥ ${show(goal.atLeast)}` : `≤ ${show(goal.atMost)}`,
    met === undefined ? '' : met ? 'yes' : 'no',
  ];
}

function rounded(/** @type {number} */ value) {
  return value.toLocaleString(
    'en',
    value < 1_000 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 },
  );
}

function ratio(/** @type {number} */ value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

function share(/** @type {number} */ value) {
  return (100 * value).toFixed(value < 0.1 ? 2 : 1);
}

function difference(/** @type {number} */ value) {
  return `${value < 0 ? '−' : '+'}${magnitude(value)}`;
}

/** Something that never happened counts as infinite. */
function magnitude(/** @type {number} */ value) {
  return Number.isFinite(value) ? Math.abs(value).toFixed(0) : '∞';
}
