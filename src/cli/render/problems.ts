import { count } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { formatProblem, type ProblemGroup } from '../../engine/rows/problem.ts';
import type { ProblemList } from '../../engine/run/plan/problem-file.ts';
import { moreText } from './words.ts';

const shownGroups = 12;
/** Rows shown that conflict with an earlier one. */
const shownConflicts = 5;

/** The problems with their lines, equal problems grouped. */
export function problemText({
  manifest,
  scan: { conflicts },
  problems,
}: {
  readonly manifest: { readonly name: string };
  readonly scan: { readonly conflicts: number };
  readonly problems: ProblemList;
}): string {
  if (problems.file === undefined) return '';
  const shown = problems.groups.slice(0, shownGroups);
  const more = problems.count - shown.reduce((sum, { rows }) => sum + rows, 0);
  const moreConflicts = conflicts - shownConflicts;
  return [
    ...shown.map((group) => groupText(manifest.name, group)),
    ...(more > 0 ? [moreText(more)] : []),
    ...problems.firstConflicts.slice(0, shownConflicts),
    ...(moreConflicts > 0 ? [moreText(moreConflicts, 'conflicting row')] : []),
    `All problems, row by row: ${escapeInvisible(problems.file)}`,
  ].join('\n');
}

function groupText(name: string, group: ProblemGroup): string {
  const { column, problem, value, rows, stretches, hasMore } = group;
  const [[line] = [0]] = stretches;
  if (rows === 1) return formatProblem(name, { line }, group);
  const what = column === undefined ? problem : `${escapeInvisible(column)}: ${problem}`;
  const { letters = '' } = group;
  const lines = stretches
    .map(([from, to]) => (from === to ? [from] : [from, to]).map((line) => letters + line).join('-'))
    .join(', ');
  const first = value === undefined ? '' : `; first: ${value}`;
  return `${count(rows)} rows: ${what} (${letters === '' ? 'lines' : 'cells'} ${lines}${hasMore ? ', …' : ''}${first})`;
}
