import { count, counted } from '../../base/text/format.ts';
import { clockTime } from '../../base/text/local-time.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { isActive } from '../../engine/cluster/entries.ts';
import type { ScanSummary } from '../../engine/manifest/check/scan.ts';
import type { OperationChoice } from '../../engine/manifest/columns/operation-choice.ts';
import type { Manifest } from '../../engine/manifest/manifest.ts';
import type { RowsHead } from '../../engine/rows/head.ts';
import { excerpt, formatProblem, type ProblemGroup, type RowPosition } from '../../engine/rows/problem.ts';
import { type RowCounts, subjectsOf } from '../../engine/rows/row-counts.ts';
import type { EarlierRun } from '../../engine/run/plan/earlier-runs.ts';
import type { ProblemList } from '../../engine/run/plan/problem-file.ts';
import { isReady, type ReadyRows, refusals, unreadyText } from '../../engine/run/plan/readiness.ts';
import { changesDocument, changesFact, changesTexts, type PlannedChanges } from './changes.ts';
import { firstRowsText } from './first-rows.ts';
import { callsText, estimatedSeconds, type Forecast, forecastFacts } from './forecast.ts';
import { type PlannedCalls, previewDocument, previewText } from './planned-calls.ts';
import { styled } from './style.ts';
import { documentOf, type Fact, factLines, indentedText, moreText, outcomeTexts } from './words.ts';

export interface Plan extends Forecast, ReadyRows, PlannedCalls, Pick<PlannedChanges, 'compared'> {
  readonly manifest: Pick<Manifest, 'name' | 'sheet'> & { readonly format: string };
  readonly head?: Pick<RowsHead, 'derived'> | undefined;
  readonly scan: ScanSummary;
  readonly choice: Pick<OperationChoice, 'source'>;
  readonly problems: ProblemList;
  readonly earlier: EarlierRun | undefined;
}

const choiceWords = {
  option: 'operation set by --operation',
  manifest: 'operation set by the manifest',
  inferred: 'operation inferred from the columns',
  none: 'no readable row',
} as const;

export function planDocument(plan: Plan): object {
  const { scan, problems } = plan;
  return {
    manifest: plan.manifest.name,
    format: plan.manifest.format,
    ...(plan.manifest.sheet && { sheet: plan.manifest.sheet.name }),
    ...countsDocument(scan),
    ...changesDocument(plan),
    left_out: scan.leftOut,
    operations: Object.fromEntries(
      Object.entries(scan.perOperation).map(([name, counts]) => [name, operationDocument(counts)]),
    ),
    operation_source: plan.choice.source,
    columns: scan.columns,
    fields: Object.fromEntries(scan.meanings.map(({ column, field }) => [column, field ?? null])),
    target: plan.baseUrl === undefined ? null : { base_url: plan.baseUrl, is_new: plan.isNewTarget ?? null },
    estimated_s: estimatedSeconds(scan.callable, plan) ?? null,
    proxy: plan.proxy ?? null,
    ready: isReady(plan),
    problems: {
      count: problems.count,
      groups: problems.groups.map(({ column, problem, value, rows, stretches, hasMore }) => {
        const lines = stretches.map(([first, last]) => [first.line, last.line]);
        return documentOf({ column, problem, firstValue: value, rows, lines, moreLines: hasMore });
      }),
      first: problems.firstProblems,
      file: problems.file ?? null,
    },
    on_conflict: plan.onConflict,
    conflicts_first: scan.firstConflicts.map(({ operation, subject, row, line, firstRow, firstLine }) =>
      documentOf({ operation, subject, row, line, firstRow, firstLine }),
    ),
    done_in: [...scan.doneIn].map(([source, rows]) => ({ source, rows })),
    run_before: plan.earlier === undefined ? null : earlierDocument(plan.earlier),
    warnings: [
      ...scan.warnings.map(({ code, message }) => ({ code, message })),
      // Invalid and conflicting rows are no warnings: the document has members of their own for them.
      ...refusals(plan)
        .filter(({ code }) => code !== 'INVALID_ROWS' && code !== 'CONFLICTING_ROWS')
        .map(({ code, text: message }) => ({ code, message })),
    ],
    preview: previewDocument(plan),
  };
}

function earlierDocument({ id, at, state, rows, counts, otherRuns }: EarlierRun): object {
  return {
    run: id,
    at,
    state,
    rows,
    outcomes: counts ?? null,
    others: otherRuns,
    skip_done: ['--skip-done', id],
  };
}

function countsDocument(counts: RowCounts) {
  const { rows, callable, invalid, duplicates, superseded, doneBefore, asWanted, conflicts, partial } =
    counts;
  return documentOf({
    rows,
    callable,
    invalid,
    duplicates,
    superseded,
    doneBefore,
    asWanted,
    conflicts,
    partial,
  });
}

function operationDocument({ first, last, fields, ...counts }: ScanSummary['perOperation'][string]) {
  const subjects = subjectsOf(counts);
  return { ...countsDocument(counts), ...documentOf({ subjects, first, last, fields }) };
}

export interface PlanStyle {
  /** The width of the screen. Undefined without a screen. */
  readonly columns: number | undefined;
  /** Whether the first requests are shown. Default: false. */
  readonly requests?: boolean | undefined;
  /** Says where all rows are. */
  readonly allRows?: string | undefined;
  readonly now?: Date;
}

/** The plan for a person: the verdict, problems, the first rows, then where the calls go and how long they take. */
export function planText(plan: Plan, { columns, requests, allRows, now = new Date() }: PlanStyle): string {
  const facts = [columnFact(plan), changesFact(plan), ...forecastFacts(plan.scan, plan, now)];
  return [
    verdictText(plan),
    problemText(plan),
    warningText(plan),
    firstRowsText(plan.scan, columns, allRows),
    factLines(facts).join('\n'),
    requests ? previewText(plan, columns) : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What a run of the plan will do, or why the plan can't be run. */
function verdictText(plan: Plan): string {
  const calls = callsText(plan.scan);
  const facts = rowFacts(plan);
  const unready = unreadyText(plan);
  if (unready === '') return [styled('bold', calls), indentedText(facts)].join('\n');
  const reasons = unready.replaceAll(/^Not ready:/gm, (label) => styled('boldRed', label));
  const rest = plan.scan.callable === 0 ? facts : [`Would be ${calls}`, indentedText(facts)];
  return [reasons, '', ...rest].join('\n');
}

/** What was read from the manifest, and what becomes of rows that are not called. */
function rowFacts(plan: Plan): readonly string[] {
  const { scan, skipInvalid } = plan;
  return [
    manifestText(plan),
    ...(scan.leftOut > 0 ? [`${counted(scan.leftOut, 'row')} left out by --where`] : []),
    ...(skipInvalid && scan.invalid > 0 ? [`${counted(scan.invalid, 'invalid row')} left out`] : []),
    ...(scan.duplicates > 0 ? [`${counted(scan.duplicates, 'identical duplicate')}: not called again`] : []),
    ...conflictTexts(scan),
    ...[...scan.doneIn].map(
      ([source, rows]) => `${counted(rows, 'row')} done before in ${escapeInvisible(source)}: left out`,
    ),
    ...changesTexts(plan),
  ];
}

/** The manifest: `rows.csv: 4 rows, CSV (operation inferred from the columns)` */
function manifestText({ manifest, scan, choice, head }: Plan): string {
  const rows = `${escapeInvisible(manifest.name)}: ${counted(scan.rows, 'row')}`;
  if (head?.derived !== undefined) return rows;
  const source = choice.source === 'column' ? '' : ` (${choiceWords[choice.source]})`;
  return `${rows}, ${manifest.format.toUpperCase()}${sheetText(manifest)}${source}`;
}

function conflictTexts({ superseded, conflicts, changedSubjects }: ScanSummary): readonly string[] {
  if (superseded > 0) {
    return [`${counted(superseded, 'row')} superseded by a later row: left out`];
  }
  if (conflicts === 0 || changedSubjects === 0) return [];
  const entries = changedSubjects === 1 ? '1 entry is' : `${count(changedSubjects)} entries are`;
  return [`${entries} edited more than once: called in the manifest's order`];
}

const shownColumns = 20;
const shownOthers = 5;

/** The columns that are read under another name, and those that are not read. */
function columnFact({ scan: { meanings } }: Plan): Fact {
  const renamed = meanings.flatMap(({ column, field }) =>
    field === undefined || field === column ? [] : [`${columnName(column)} → ${field}`],
  );
  const more = renamed.length - shownColumns;
  const others = meanings.filter(({ field }) => field === undefined).map(({ column }) => columnName(column));
  const texts = [
    [...renamed.slice(0, shownColumns), ...(more > 0 ? [moreText(more)] : [])].join(', '),
    others.length === 0 ? '' : keptText(others),
  ];
  return ['Columns:', texts.filter((text) => text !== '')];
}

function keptText(names: readonly string[]): string {
  const shown = names.slice(0, shownOthers).join(', ');
  return `only kept for the report: ${shown}${names.length > shownOthers ? `, ${moreText(names.length - shownOthers)}` : ''}`;
}

function columnName(column: string): string {
  const name = excerpt(column);
  return /^[\p{L}\p{N}_-]+$/u.test(name) ? name : `"${name}"`;
}

function sheetText({ sheet }: Plan['manifest']): string {
  if (sheet === undefined) return '';
  const total = sheet.others.length > 0 ? ` of ${sheet.others.length + 1}` : '';
  return `, sheet "${excerpt(sheet.name)}"${total}`;
}

function warningText({ scan, earlier }: Plan): string {
  const warnings = scan.warnings.map(({ message }) => `warning: ${escapeInvisible(message)}`);
  if (earlier !== undefined) warnings.push(`warning: ${earlierText(earlier)}`);
  return warnings.join('\n');
}

function earlierText({ id, at, state, rows, counts, otherRuns }: EarlierRun): string {
  const facts = [
    clockTime(new Date(at)),
    state,
    counted(rows, 'row'),
    ...(counts ? outcomeTexts(counts) : []),
  ];
  const more = otherRuns === 0 ? '' : `, and ${counted(otherRuns, 'time')} before that`;
  const next =
    isActive(state) || state === 'submitted'
      ? 'that run is still in progress'
      : `to leave out its completed rows: --skip-done ${id}`;
  return `this manifest ran before as ${id} (${facts.join(', ')})${more}; ${next}`;
}

const shownGroups = 12;
const shownConflicts = 5;

/** The problems of a manifest. Equal problems of several rows make a group. */
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
  const { letters = '' } = group;
  const [[first] = [{ row: 0, line: 0 }]] = stretches;
  if (rows === 1) return formatProblem(name, first, group);
  const text = escapeInvisible(problem);
  const what = column === undefined ? text : `${escapeInvisible(column)}: ${text}`;
  const rangesOf = (nameOf: (position: RowPosition) => string): string => {
    const ranges = stretches.map((ends) => [...new Set(ends.map(nameOf))].join('-'));
    return [...ranges, ...(hasMore ? ['…'] : [])].join(', ');
  };
  const lines = `${letters === '' ? 'lines' : 'cells'} ${rangesOf(({ line }) => letters + line)}`;
  const from = value === undefined ? '' : `; first: ${escapeInvisible(value)}`;
  return `${count(rows)} rows: ${what} (rows ${rangesOf(({ row }) => String(row))}; ${lines}${from})`;
}
