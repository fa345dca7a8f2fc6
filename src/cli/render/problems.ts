import { formatProblem } from '../../manifest/problem.ts';
import type { ProblemGroup } from '../../manifest/problem-groups.ts';
import type { RowCounts } from '../../manifest/row-counts.ts';
import { escapeInvisible } from '../../printable.ts';
import type { ProblemList } from '../../run/problem-file.ts';
import { count, counted } from './words.ts';

interface Named {
  readonly name: string;
}

/** What decides whether a run may begin. */
interface PlannedRows {
  readonly manifest: Named;
  readonly scan: Pick<RowCounts, 'rows' | 'callable' | 'invalid'>;
  /** Whether invalid rows are left out. */
  readonly skipInvalid: boolean;
}

/** How many kinds of problems are told. */
const shownGroups = 12;

/** The problems, equal ones together, and where each of them stands. */
export function problemText({ manifest, problems }: { manifest: Named; problems: ProblemList }): string {
  if (problems.file === undefined) return '';
  const shown = problems.groups.slice(0, shownGroups);
  const more = problems.count - shown.reduce((sum, { rows }) => sum + rows, 0);
  return [
    ...shown.map((group) => groupText(manifest.name, group)),
    ...(more > 0 ? [`… and ${count(more)} more`] : []),
    `All of them, row by row: ${escapeInvisible(problems.file)}`,
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

/** Whether a run may begin. */
export function isReady({ scan, skipInvalid }: Omit<PlannedRows, 'manifest'>): boolean {
  return scan.invalid === 0 || skipInvalid;
}

/** Whether a run of this can begin, and if not, what to do: the last line of a plan. */
export function verdictText({ manifest, scan, skipInvalid }: PlannedRows): string {
  const { rows, callable, invalid } = scan;
  if (isReady({ scan, skipInvalid })) {
    const left = invalid === 0 ? '' : `, ${counted(invalid, 'invalid row')} left out`;
    return `Ready: ${counted(callable, 'call')}${left}.`;
  }
  const name = escapeInvisible(manifest.name);
  const [are, them] = invalid === 1 ? ['is', 'it'] : ['are', 'them'];
  const which = invalid === rows && rows > 1 ? `all ${counted(rows, 'row')}` : counted(invalid, 'row');
  const orSkip = invalid === rows ? '' : ' or pass --skip-invalid';
  return `Not ready: ${which} of ${name} ${are} invalid; mend ${them}${orSkip}.`;
}
