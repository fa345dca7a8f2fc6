import type { CanaryResults } from '../../run/session/canary.ts';
import { count, counted } from '../../text/quantities.ts';
import { styleOf } from './chart.ts';
import { styled } from './style.ts';
import { indented, table } from './words.ts';

/** More rows than that nobody reads before answering. */
const maxRows = 30;

/** What became of the rows of a canary: all of them, or those first that have failed. */
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
          styled(styleOf[result.outcome], result.outcome),
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
    ...(more > 0 ? [`  … and ${counted(more, 'more row')}`] : []),
  ].join('\n');
}
