import type { ConflictRule } from '../../manifest/conflicts.ts';
import { formatProblem } from '../../manifest/problem.ts';
import type { ProblemGroup } from '../../manifest/problem-groups.ts';
import type { RowCounts } from '../../manifest/row-counts.ts';
import { escapeInvisible } from '../../printable.ts';
import type { ProblemList } from '../../run/problem-file.ts';
import type { Target } from '../../run/targets.ts';
import { shellWord } from '../../shell-word.ts';
import { count, counted } from './words.ts';

interface Named {
  readonly name: string;
}

/** What decides whether a run may begin. */
interface PlannedRows {
  readonly manifest: Named;
  readonly scan: Pick<RowCounts, 'rows' | 'callable' | 'invalid' | 'conflicts' | 'partial'>;
  /** Whether invalid rows are left out. */
  readonly skipInvalid: boolean;
  readonly onConflict: ConflictRule;
  /** Whether the user lets rows leave fields out. */
  readonly allowPartial: boolean;
  /** What the state folder knows of the API, if the user says where that is. */
  readonly target: Target | undefined;
  readonly baseUrl: string | undefined;
}

/** How many kinds of problems are told. */
const shownGroups = 12;
/** How many of the rows are told that conflict with an earlier one. */
const shownConflicts = 5;

/** The problems, equal ones together, and where each of them stands. */
export function problemText({
  manifest,
  scan: { conflicts },
  problems,
}: Pick<PlannedRows, 'manifest'> & {
  readonly scan: Pick<RowCounts, 'conflicts'>;
  readonly problems: ProblemList;
}): string {
  if (problems.file === undefined) return '';
  const shown = problems.groups.slice(0, shownGroups);
  const more = problems.count - shown.reduce((sum, { rows }) => sum + rows, 0);
  return [
    ...shown.map((group) => groupText(manifest.name, group)),
    ...(more > 0 ? [`… and ${count(more)} more`] : []),
    ...conflictTexts(problems, conflicts),
    `All of them, row by row: ${escapeInvisible(problems.file)}`,
  ].join('\n');
}

function conflictTexts({ firstConflicts }: ProblemList, conflicts: number): readonly string[] {
  if (firstConflicts.length === 0) return [];
  const more = conflicts - shownConflicts;
  return [
    ...firstConflicts.slice(0, shownConflicts),
    ...(more > 0 ? [`… and ${counted(more, 'more row')} like that`] : []),
  ];
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

/** Whether a run may begin: `plan` says what this says, and `run` goes by it. */
export function isReady(planned: PlannedRows): boolean {
  return refusalOf(planned) === undefined;
}

/** Why a run may not begin, as a code; the first reason counts. */
export function refusalOf(
  planned: PlannedRows,
): 'INVALID_ROWS' | 'CONFLICTING_ROWS' | 'PARTIAL_ROWS' | undefined {
  if (!leavesInvalid(planned)) return 'INVALID_ROWS';
  if (!isDecided(planned)) return 'CONFLICTING_ROWS';
  return isPartialAllowed(planned) ? undefined : 'PARTIAL_ROWS';
}

/** Whether no row is invalid, or such rows are left out. */
function leavesInvalid({ scan, skipInvalid }: Pick<PlannedRows, 'scan' | 'skipInvalid'>): boolean {
  return scan.invalid === 0 || skipInvalid;
}

/** Whether no rows conflict, or the user says what to do with them. */
function isDecided({ scan, onConflict }: Pick<PlannedRows, 'scan' | 'onConflict'>): boolean {
  return scan.conflicts === 0 || onConflict !== 'refuse';
}

/** Whether rows may leave fields out that the service might reset, if any does. */
export function isPartialAllowed({
  scan,
  target,
  allowPartial,
}: Pick<PlannedRows, 'scan' | 'target' | 'allowPartial'>): boolean {
  return scan.partial === 0 || allowPartial || target?.allowsPartial === true;
}

/** Whether a run of this can begin, and if not, what to do: the last line of a plan. */
export function verdictText(planned: PlannedRows): string {
  const { callable, invalid } = planned.scan;
  if (isReady(planned)) {
    const left = invalid === 0 ? '' : `, ${counted(invalid, 'invalid row')} left out`;
    return `Ready: ${counted(callable, 'call')}${left}.`;
  }
  return [
    ...(leavesInvalid(planned) ? [] : [invalidVerdict(planned)]),
    ...(isDecided(planned) ? [] : [conflictVerdict(planned)]),
    ...(isPartialAllowed(planned) ? [] : [`Not ready: ${partialText(planned)}`]),
  ].join(' ');
}

function invalidVerdict({ manifest, scan: { rows, invalid } }: PlannedRows): string {
  const [are, them] = invalid === 1 ? ['is', 'it'] : ['are', 'them'];
  const which = invalid === rows && rows > 1 ? `all ${counted(rows, 'row')}` : counted(invalid, 'row');
  const orSkip = invalid === rows ? '' : ' or pass --skip-invalid';
  return `Not ready: ${which} of ${escapeInvisible(manifest.name)} ${are} invalid; mend ${them}${orSkip}.`;
}

function conflictVerdict({ manifest, scan: { conflicts } }: PlannedRows): string {
  const name = escapeInvisible(manifest.name);
  return (
    `Not ready: ${counted(conflicts, 'row')} of ${name} ${conflicts === 1 ? 'changes what an earlier row changes' : 'change what earlier rows change'}, ` +
    'in another way. Take out what is not meant, or pass --on-conflict last (only the last row of each is called) or ' +
    "--on-conflict in-order (all are called, one after the other, in the manifest's order)."
  );
}

/** What may go wrong with rows that leave fields out, and how to find out whether it does. */
export function partialText({
  scan,
  manifest,
  baseUrl,
}: Pick<PlannedRows, 'scan' | 'manifest' | 'baseUrl'>): string {
  const rows = counted(scan.partial, 'row', ['leaves', 'leave']);
  const name = escapeInvisible(shellWord(manifest.name));
  return (
    `${rows} fields out. Whether ${baseUrl ?? 'the service'} keeps such fields or resets them is not documented; if it resets ` +
    `them, they are lost in each entry. Try it with one row: "cqbatch run ${name} --allow-partial --canary 1" asks after it; look at ` +
    'that entry before you say yes. Once a run has come to its end, this is not asked again for that address. Or give all fields.'
  );
}
