// @ts-check

/** @typedef {{ readonly title: string, readonly condition: string, readonly figures: import('./world.ts').Figures }} Line */

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
    ...lines.map(({ title, condition, figures }) => [
      title,
      condition,
      share(figures.used),
      share(figures.rejected, 2),
      Number.isFinite(figures.worstMinute) ? share(figures.worstMinute) : '',
      after(figures.risenAfter),
      after(figures.droppedAfter),
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
      pace?.learned?.toFixed(1) ?? '',
      pace?.phase ?? '',
      pace?.reason ?? '',
    ]),
  ]);
}

/** @param {readonly (readonly string[])[]} records */
function aligned(records) {
  const [first = [], ...others] = records;
  const widths = first.map((_, column) => Math.max(...records.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [first, rule, ...others]
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`)
    .join('');
}

/**
 * @param {number} value
 * @param {number} [digits]
 */
function share(value, digits = 1) {
  return `${(100 * value).toFixed(digits)} %`;
}

function after(/** @type {number | undefined} */ seconds) {
  return seconds === undefined ? '' : Number.isFinite(seconds) ? `${seconds} s` : 'never';
}
