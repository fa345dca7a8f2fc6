import {
  type ApiRequest,
  type ConflictRule,
  type EarlierRun,
  excerpt,
  isActive,
  isOldName,
  isPartialAllowed,
  isReady,
  type Manifest,
  type OperationChoice,
  type ProblemList,
  partialText,
  type RowCounts,
  requestHeaders,
  type ScanSummary,
  subjectsOf,
} from '../../index.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { count, counted } from '../../text/quantities.ts';
import { problemText } from './problems.ts';
import { estimatedSeconds, type Prospect, prospectText } from './prospect.ts';
import { clockTime, documentOf, indented, moreText, outcomeTexts } from './words.ts';

/** All that a plan has found out. */
export interface Plan extends Prospect {
  readonly manifest: Pick<Manifest, 'name' | 'sheet'> & { readonly format: string };
  readonly scan: ScanSummary;
  readonly choice: OperationChoice;
  readonly problems: ProblemList;
  /** Whether invalid rows are left out. */
  readonly skipInvalid: boolean;
  /** Whether the user lets rows leave fields out. */
  readonly allowPartial: boolean;
  readonly onConflict: ConflictRule;
  /** The latest run of the same manifest on the same API, if there was one. */
  readonly earlier: EarlierRun | undefined;
}

const choiceWords = {
  column: 'the column "operation" says it',
  option: '--operation says it',
  manifest: 'the manifest says it',
  inferred: 'inferred from the columns',
  none: 'no row could be read',
} as const;

/** The document of `plan --json`. */
export function planDocument(plan: Plan): object {
  const { scan, problems } = plan;
  return {
    manifest: plan.manifest.name,
    format: plan.manifest.format,
    ...(plan.manifest.sheet && { sheet: plan.manifest.sheet.name }),
    ...countsDocument(scan),
    left_out: scan.leftOut,
    operations: Object.fromEntries(
      Object.entries(scan.perOperation).map(([name, counts]) => [name, operationDocument(counts)]),
    ),
    operation_source: plan.choice.source,
    columns: scan.columns,
    fields: Object.fromEntries(scan.meanings.map(({ column, field }) => [column, field ?? null])),
    target:
      plan.baseUrl === undefined ? null : { base_url: plan.baseUrl, is_new: plan.target?.isNew ?? null },
    estimated_seconds: estimatedSeconds(scan.callable, plan) ?? null,
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
      ...(isPartialAllowed(plan) ? [] : [{ code: 'PARTIAL_ROWS', message: partialText(plan) }]),
    ],
    preview: scan.preview.map(({ row, request }) => ({
      row,
      method: request.method ?? 'POST',
      url: urlOf(plan, request),
      headers: Object.fromEntries(headersOf(request)),
      body: request.body,
    })),
  };
}

function earlierDocument({ id, at, state, rows, counts, others }: EarlierRun): object {
  return { run: id, at, state, rows, outcomes: counts ?? null, others, skip_done: ['--skip-done', id] };
}

function countsDocument(counts: RowCounts) {
  const { rows, callable, invalid, duplicates, superseded, doneBefore, conflicts, partial } = counts;
  return documentOf({ rows, callable, invalid, duplicates, superseded, doneBefore, conflicts, partial });
}

function operationDocument({ first, last, fields, ...counts }: ScanSummary['perOperation'][string]) {
  const subjects = subjectsOf(counts);
  return { ...countsDocument(counts), ...documentOf({ subjects, first, last, fields }) };
}

/** The plan for people: what was read, what is wrong, what looks wrong, what would be done. */
export function planText(plan: Plan, now = new Date()): string {
  return [
    summaryText(plan),
    columnText(plan),
    previewText(plan),
    prospectText(plan.scan, plan, now),
    warningText(plan),
    problemText(plan),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** How many rows there are, and which of them are not called. */
function summaryText({ manifest, scan, choice }: Plan): string {
  const facts = [
    ...(scan.leftOut > 0 ? [`${counted(scan.leftOut, 'row')} left out by --where`] : []),
    ...(scan.duplicates > 0 ? [`${counted(scan.duplicates, 'identical duplicate')}: called once`] : []),
    ...conflictFacts(scan),
    ...[...scan.doneIn].map(
      ([source, rows]) => `${counted(rows, 'row')} done before (in ${escapeInvisible(source)}): left out`,
    ),
    ...(scan.invalid > 0 ? [`${counted(scan.invalid, 'invalid row')}`] : []),
  ];
  const source = choice.source === 'column' ? '' : ` (${choiceWords[choice.source]})`;
  const read = `${escapeInvisible(manifest.name)}: ${counted(scan.rows, 'row')}, ${manifest.format.toUpperCase()}${sheetText(manifest)}${source}`;
  return facts.length === 0 ? read : `${read}\n${indented(facts)}`;
}

/** What will be done with rows that conflict, where that is not refused. */
function conflictFacts({ superseded, conflicts, changedSubjects }: ScanSummary): readonly string[] {
  if (superseded > 0) {
    return [`${counted(superseded, 'row', ['is', 'are'])} superseded by a later one: left out`];
  }
  if (conflicts === 0 || changedSubjects === 0) return [];
  const entries = changedSubjects === 1 ? '1 entry is' : `${count(changedSubjects)} entries are`;
  return [`${entries} edited more than once: in the manifest's order`];
}

/** How many columns are told. */
const shownColumns = 20;

/** What each column is taken for. */
function columnText({ scan: { meanings } }: Plan): string {
  if (meanings.length === 0) return '';
  const lines = meanings
    .slice(0, shownColumns)
    .map(({ column, field }) => [columnName(column), meaningText(field)]);
  const width = Math.max(...lines.map(([name = '']) => name.length));
  const more = meanings.length - lines.length;
  return [
    'Columns:',
    ...lines.map(([name = '', meaning]) => `  ${name.padEnd(width)} → ${meaning}`),
    ...(more > 0 ? [`  ${moreText(more)}`] : []),
  ].join('\n');
}

function meaningText(field: string | undefined): string {
  if (field === undefined) return 'kept for the report';
  return isOldName(field) ? `${field}: old value, for undo` : field;
}

/** A title that could be taken for something else stands in quotes. */
function columnName(column: string): string {
  const name = excerpt(column);
  return /^[\p{L}\p{N}_-]+$/u.test(name) ? name : `"${name}"`;
}

/** Which sheet is read, and that there are others. */
function sheetText({ sheet }: Plan['manifest']): string {
  if (sheet === undefined) return '';
  const others = sheet.sheets > 1 ? ` of ${sheet.sheets}` : '';
  return `, sheet "${excerpt(sheet.name)}"${others}`;
}

function warningText({ scan, earlier }: Plan): string {
  const warnings = scan.warnings.map(({ message }) => `warning: ${message}`);
  if (earlier !== undefined) warnings.push(`warning: ${earlierText(earlier)}`);
  return warnings.join('\n');
}

/** That a manifest was run before, and how to leave out what was done then: one line. */
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
      ? 'it is still going'
      : `to leave out what was done: --skip-done ${id}`;
  return `this manifest was run before, as ${id} (${facts.join(', ')})${more}; ${next}`;
}

function previewText(plan: Plan): string {
  const { preview } = plan.scan;
  if (preview.length === 0) return '';
  const requests = preview.map(({ row, request }, index) =>
    [
      `row ${row}`,
      indented([
        `${request.method ?? 'POST'} ${urlOf(plan, request)}`,
        // Most are the same for all.
        ...(index === 0 ? headersOf(request).map((header) => header.join(': ')) : []),
        excerptOf(request.body),
      ]),
    ].join('\n'),
  );
  return `The first ${preview.length === 1 ? 'request, as it' : `${preview.length} requests, as they`} would go out:\n${requests.join('\n')}`;
}

/** As the client sends them, but for the token. */
function headersOf({ body }: ApiRequest): readonly (readonly [name: string, value: string])[] {
  return Object.entries(requestHeaders('********', { hasBody: body !== '' }));
}

const maxBodyLength = 2_000;

function excerptOf(body: string): string {
  const more = body.length - maxBodyLength;
  return more > 0 ? `${body.slice(0, maxBodyLength)}… (${count(more)} more characters)` : body;
}

function urlOf({ baseUrl }: Pick<Plan, 'baseUrl'>, { path }: ApiRequest): string {
  return `${baseUrl ?? '{base_url}'}${path}`;
}
