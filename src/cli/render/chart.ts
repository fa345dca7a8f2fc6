import { type Outcome, type OutcomeCounts, outcomes, totalOf } from '../../domain.ts';
import type { RatePoint } from '../../report/rate-history.ts';
import { type Style, styled } from './style.ts';

/** Small pictures of one line, for the end of a run on a screen. */

/** How an outcome looks where it is shown. */
export const styleOf: Readonly<Record<Outcome, Style>> = {
  succeeded: 'green',
  failed: 'red',
  invalid: 'red',
  duplicate: 'dim',
  skipped: 'dim',
  not_attempted: 'yellow',
};

/** Told apart without colours, too. */
const blocks: Readonly<Record<Outcome, string>> = {
  succeeded: '█',
  failed: '░',
  invalid: '░',
  duplicate: '▓',
  skipped: '▓',
  not_attempted: '·',
};

/** The shares of the outcomes in a bar of so many columns; whatever occurs has at least one of them. */
export function outcomeChart(counts: OutcomeCounts, columns: number): string {
  const occurring = outcomes.filter((outcome) => counts[outcome] > 0);
  const total = totalOf(counts);
  const widths = new Map(
    occurring.map((outcome) => [outcome, Math.max(1, Math.round((counts[outcome] / total) * columns))]),
  );
  // What rounding has given or taken is hardly seen in the widest part.
  const [widest] = occurring.toSorted((a, b) => counts[b] - counts[a]);
  const sum = [...widths.values()].reduce((all, width) => all + width, 0);
  if (widest !== undefined) widths.set(widest, (widths.get(widest) ?? 0) + columns - sum);
  return occurring
    .map((outcome) => styled(styleOf[outcome], blocks[outcome].repeat(Math.max(0, widths.get(outcome) ?? 0))))
    .join('');
}

const levels = [...'▁▂▃▄▅▆▇█'];

/** Calls per second over the time of a run, in so many columns. */
export function rateLine(series: readonly RatePoint[], columns: number): string {
  const values = resampled(series, columns);
  const most = Math.max(...values);
  return values
    .map((value) => levels[Math.max(0, Math.ceil((value / most) * levels.length) - 1)] ?? levels[0])
    .join('');
}

/** The mean of each of so many parts of the time; of a part without a point what was before it. */
function resampled(series: readonly RatePoint[], parts: number): readonly number[] {
  const end = series.at(-1)?.t_s ?? 0;
  const sums = Array.from({ length: parts }, () => ({ sum: 0, points: 0 }));
  for (const { t_s, accepted_per_s } of series) {
    const part = sums[Math.min(parts - 1, Math.floor((t_s / end) * parts))];
    if (part === undefined) continue;
    part.sum += accepted_per_s;
    part.points += 1;
  }
  let before = 0;
  return sums.map(({ sum, points }) => {
    if (points > 0) before = sum / points;
    return before;
  });
}
