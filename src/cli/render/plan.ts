import { count, counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { isActive } from '../../engine/cluster/entries.ts';
import type { ScanSummary } from '../../engine/manifest/check/scan.ts';
import type { OperationChoice } from '../../engine/manifest/columns/operation-choice.ts';
import type { Manifest } from '../../engine/manifest/manifest.ts';
import { isOldName } from '../../engine/operation/field-names.ts';
import { excerpt, formatProblem, type ProblemGroup } from '../../engine/rows/problem.ts';
import { type RowCounts, subjectsOf } from '../../engine/rows/row-counts.ts';
import type { EarlierRun } from '../../engine/run/plan/earlier-runs.ts';
import type { ProblemList } from '../../engine/run/plan/problem-file.ts';
import { isReady, type ReadyRows, refusals } from '../../engine/run/plan/readiness.ts';
import { changesDocument, changesText, type PlannedChanges } from './changes.ts';
import { estimatedSeconds, type Forecast, forecastText } from './forecast.ts';
import { type PlannedCalls, previewDocument, previewText } from './planned-calls.ts';
import { clockTime, documentOf, indented, moreText, outcomeTexts } from './words.ts';

export interface Plan extends Forecast, ReadyRows, PlannedCalls, Pick<PlannedChanges, 'compared'> {
  readonly manifest: Pick<Manifest, 'name' | 'sheet'> & { readonly format: string };
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
      groups: problems.groups.map(({ column, problem, value, rows, stretches: lines, hasMore }) =>
        documentOf({ column, problem, firstValue: value, rows, lines, moreLines: hasMore }),
      ),
      first: problems.first,
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
      // The document has other members for these two.
      ...refusals(plan)
        .filter(({ code }) => code !== 'INVALID_ROWS' && code !== 'CONFLICTING_ROWS')
        .map(({ code, text: message }) => ({ code, message })),
    ],
    preview: previewDocument(plan),
  };
}

function earlierDocument({ id, at, state, rows, counts, others }: EarlierRun): object {
  return { run: id, at, state, rows, outcomes: counts ?? null, others, skip_done: ['--skip-done', id] };
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

/** @param columns of the screen */
export function planText(plan: Plan, columns = Number.POSITIVE_INFINITY, now = new Date()): string {
  return [
    summaryText(plan),
    columnText(plan),
    changesText(plan),
    forecastText(plan.scan, plan, { isReady: isReady(plan), isWhole: plan.compared !== undefined, now }),
    previewText(plan, columns),
    warningText(plan),
    problemText(plan),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function summaryText({ manifest, scan, choice }: Plan): string {
  const facts = [
    ...(scan.leftOut > 0 ? [`${counted(scan.leftOut, 'row')} left out by --where`] : []),
    ...(scan.duplicates > 0 ? [`${counted(scan.duplicates, 'identical duplicate')}: not called again`] : []),
    ...conflictFacts(scan),
    ...[...scan.doneIn].map(
      ([source, rows]) => `${counted(rows, 'row')} done before in ${escapeInvisible(source)}: left out`,
    ),
    ...(scan.invalid > 0 ? [`${counted(scan.invalid, 'invalid row')}`] : []),
  ];
  const source = choice.source === 'column' ? '' : ` (${choiceWords[choice.source]})`;
  const read = `${escapeInvisible(manifest.name)}: ${counted(scan.rows, 'row')}, ${manifest.format.toUpperCase()}${sheetText(manifest)}${source}`;
  return facts.length === 0 ? read : `${read}\n${indented(facts)}`;
}

function conflictFacts({ superseded, conflicts, changedSubjects }: ScanSummary): readonly string[] {
  if (superseded > 0) {
    return [`${counted(superseded, 'row')} superseded by a later row: left out`];
  }
  if (conflicts === 0 || changedSubjects === 0) return [];
  const entries = changedSubjects === 1 ? '1 entry is' : `${count(changedSubjects)} entries are`;
  return [`${entries} edited more than once: called in the manifest's order`];
}

const shownColumns = 20;
const shownOthers = 5;

function columnText({ scan: { meanings } }: Plan): string {
  if (meanings.length === 0) return '';
  const fields = meanings.flatMap(({ column, field }) =>
    field === undefined ? [] : [{ name: columnName(column), field }],
  );
  const shown = fields.slice(0, shownColumns);
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const more = fields.length - shown.length;
  const others = meanings.filter(({ field }) => field === undefined).map(({ column }) => columnName(column));
  return [
    'Columns:',
    ...shown.map(({ name, field }) => `  ${name.padEnd(width)} → ${meaningText(field)}`),
    ...(more > 0 ? [`  ${moreText(more)}`] : []),
    ...(others.length > 0 ? [`  ${keptText(others)}`] : []),
  ].join('\n');
}

function meaningText(field: string): string {
  return isOldName(field) ? `${field}: old value, for undo` : field;
}

function keptText(names: readonly string[]): string {
  const shown = names.slice(0, shownOthers).join(', ');
  const what = counted(names.length, 'other column', ['is', 'are']);
  return `${what} kept for the report: ${shown}${names.length > shownOthers ? ', …' : ''}`;
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

function earlierText({ id, at, state, rows, counts, others }: EarlierRun): string {
  const facts = [
    clockTime(new Date(at)),
    state,
    counted(rows, 'row'),
    ...(counts ? outcomeTexts(counts) : []),
  ];
  const more = others === 0 ? '' : `, and ${counted(others, 'time')} before that`;
  const next =
    isActive(state) || state === 'submitted'
      ? 'that run is still in progress'
      : `to leave out its completed rows: --skip-done ${id}`;
  return `this manifest ran before as ${id} (${facts.join(', ')})${more}; ${next}`;
}

const shownGroups = 12;
const shownConflicts = 5;

/** Groups equal problems. */
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
  const text = escapeInvisible(problem);
  const what = column === undefined ? text : `${escapeInvisible(column)}: ${text}`;
  const { letters = '' } = group;
  const lines = stretches
    .map(([from, to]) => (from === to ? [from] : [from, to]).map((line) => letters + line).join('-'))
    .join(', ');
  const first = value === undefined ? '' : `; first: ${escapeInvisible(value)}`;
  return `${count(rows)} rows: ${what} (${letters === '' ? 'lines' : 'cells'} ${lines}${hasMore ? ', …' : ''}${first})`;
}
