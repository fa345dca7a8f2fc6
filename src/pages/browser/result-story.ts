import { counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { shortened } from '../../base/text/printable.ts';
import { requestsOf } from '../../domain/attempts.ts';
import type { Attempt } from '../../domain/row-result.ts';
import { unclearText } from '../../domain/terms.ts';
import { fieldNameOf, oldNameOf } from '../../engine/operation/field-names.ts';
import type { FactColumn } from '../../engine/report/html/packed-rows.ts';
import type { PageAdvice, PageData } from '../../engine/report/html/page-data.ts';
import type { FieldChange } from '../../engine/rows/row-kind.ts';
import type { Column } from './column.ts';
import { type Child, element, numberCell, tableElement } from './dom.ts';
import { resultsBeyondCells } from './result-columns.ts';
import type { RowStory } from './row-dialog.ts';
import type { ReportColumn, Rows } from './rows.ts';
import { changeList, chip, longestSubject, type NamedText, namedTexts, requestPart } from './story-parts.ts';

type Report = Pick<PageData, 'advice' | 'operations' | 'rows'>;

/** The details of a row: what became of it. */
export function resultStory(rows: Rows, row: number, { advice, operations, rows: packed }: Report): RowStory {
  return {
    title: titleOf(rows, row, operations),
    content: storyOf(rows, row, advice[rows.factColumn('code').text(row)], packed.clearToken),
  };
}

/** The title of a row's details: `Row 120 · evaluation 120 · failed · unclear`. */
function titleOf(rows: Rows, row: number, operations: Report['operations']): readonly Child[] {
  const subject = rows.columns.find(({ role, text }) => role === 'subject' && text(row) !== '');
  const outcome = rows.factColumn('outcome');
  const thing = operations[rows.factColumn('operation').text(row)]?.thing;
  return [
    `Row ${rows.factColumn('row').text(row)} · `,
    subject && `${shortened(`${thing ?? subject.title} ${subject.text(row)}`, longestSubject)} · `,
    chip(outcome.text(row), outcome.shown(row)),
    rows.factColumn('unclear').text(row) !== '' && [' · ', chip('unclear', 'unclear')],
  ];
}

function storyOf(rows: Rows, row: number, advice: PageAdvice | undefined, clearToken: string): Child {
  const fact = (name: FactColumn): string => rows.factColumn(name).text(row);
  const named = (columns: readonly Column[]): readonly NamedText[] =>
    columns.map((column) => [column.title, column.text(row)]);
  const cells = rows.columns.filter(({ kind }) => kind === 'cell');
  const compared = fact('changes');
  const edits = compared === '' ? editsIn(cells, row, clearToken) : comparedEdits(compared, cells);
  const [outcome, duplicateOf] = [fact('outcome'), fact('duplicateOf')];
  const end: readonly NamedText[] = [
    ['Code', fact('code')],
    ['Message', fact('message')],
    ['Meaning', advice?.meaning ?? ''],
    ['What to do', outcome === 'succeeded' ? '' : (advice?.remedy ?? '')],
    ['Unclear', fact('unclear') === '' ? '' : unclearText(outcome)],
    ['Operation', fact('operation')],
    ['Request id', fact('requestId')],
    ['Duplicate of', duplicateOf === '' ? '' : `row ${duplicateOf}`],
    ...named(resultsBeyondCells(rows, row)),
  ];
  const attempts = attemptsOf(rows, row);
  const made = Number(fact('attempts'));
  const untold = made - requestsOf(attempts);
  const subjects = cells.filter(({ role }) => role === 'subject').map(({ title }) => title);
  const inEdits = new Set(edits.flatMap(({ columns }) => columns));
  const others = cells.filter((cell) => !inEdits.has(cell) && !(cell.role === 'operation' && cell.isAdded));
  const calls = made > 0 || attempts.length > 0 ? counted(made, 'attempt') : 'Not called';
  const first = localTime(startOf(attempts), 3);
  return [
    namedTexts(end, ['Message', 'Request id']),
    changeList(edits),
    element('h3', [calls, first].filter(Boolean).join(' from ')),
    untold > 0 && element('p', `${counted(untold, 'attempt')} without details`),
    attempts.length > 1 && timeline(attempts),
    attempts.length > 0 && attemptTable(attempts, fact('message')),
    requestPart(fact('request')),
    element('h3', 'Manifest'),
    namedTexts(named(others), subjects),
  ];
}

interface Edit extends FieldChange {
  /** The columns that have the values of the change. */
  readonly columns: readonly ReportColumn[];
}

/** The fields of a row for which the manifest has old values, too. */
function editsIn(cells: readonly ReportColumn[], row: number, clearToken: string): readonly Edit[] {
  const valueIn = (cell: ReportColumn): string => (cell.rawText(row) === clearToken ? '' : cell.text(row));
  return cells.flatMap((cell) => {
    const oldCell = cellOf(oldNameOf(fieldNameOf(cell.name)), cells);
    if (oldCell === undefined || cell.rawText(row) === '') return [];
    const old = oldCell.rawText(row) === '' ? undefined : valueIn(oldCell);
    return [{ field: cell.title, old, new: valueIn(cell), columns: [cell, oldCell] }];
  });
}

/** What a row changes of the entry with which it was compared. @param json a `FieldChange[]` */
function comparedEdits(json: string, cells: readonly ReportColumn[]): readonly Edit[] {
  const changes: readonly FieldChange[] = JSON.parse(json);
  return changes.map((change) => {
    const [cell, oldCell] = [cellOf(change.field, cells), cellOf(oldNameOf(change.field), cells)];
    const columns = [cell, oldCell].filter((each) => each !== undefined);
    return { ...change, field: cell?.title ?? change.field, columns };
  });
}

/** The cell of a field, or of its old value. */
function cellOf(field: string, cells: readonly ReportColumn[]): ReportColumn | undefined {
  return cells.find(({ name }) => fieldNameOf(name) === field);
}

function attemptsOf(rows: Rows, row: number): readonly Attempt[] {
  const text = rows.factColumn('earlier').text(row);
  const earlier = text === '' ? [] : (JSON.parse(text) as readonly Attempt[]);
  const started = rows.number('started', row);
  const durationMs = rows.number('duration', row);
  if (started === undefined || durationMs === undefined) return earlier;
  const status = rows.number('status', row);
  return [
    ...earlier,
    {
      at: new Date(rows.number('lastStarted', row) ?? started).toISOString(),
      durationMs,
      code: rows.factColumn('code').text(row),
      message: rows.factColumn('message').text(row),
      ...(status !== undefined && { httpStatus: status }),
    },
  ];
}

/** The first known time of the attempts, ISO 8601 UTC; otherwise empty. */
function startOf(attempts: readonly Attempt[]): string {
  return attempts.find(({ at }) => at !== undefined)?.at ?? '';
}

/** Attempts as bars on a time axis. A table gives the same facts as text. */
function timeline(attempts: readonly Attempt[]): HTMLElement | undefined {
  const first = Date.parse(startOf(attempts));
  const timed = attempts.flatMap(({ at, durationMs = 0, code }) =>
    at === undefined ? [] : [{ after: Date.parse(at) - first, durationMs, code }],
  );
  if (timed.length === 0) return undefined;
  const length = Math.max(1, ...timed.map(({ after, durationMs }) => after + durationMs));
  const bars = timed.map(({ after, durationMs, code }) => {
    const isGood = code === 'OK' || code === 'ALREADY_APPLIED';
    const bar = element('span', { class: isGood ? 'succeeded' : 'failed' });
    bar.style.left = `${(100 * after) / length}%`;
    bar.style.width = `${(100 * durationMs) / length}%`;
    return bar;
  });
  return element(
    'div',
    { class: 'timeline', 'aria-hidden': 'true' },
    element('div', { class: 'track' }, bars),
    element('span', '+0.0 s'),
    element('span', `+${exactDuration(length)}`),
  );
}

/** Attempts as a table. @param told the message of the row, which is not repeated */
function attemptTable(attempts: readonly Attempt[], told: string): HTMLElement {
  const first = Date.parse(startOf(attempts));
  const lines = attempts.flatMap(({ at, durationMs, code, message, httpStatus, omitted }) => {
    const line = [
      at === undefined ? '' : `+${((Date.parse(at) - first) / 1_000).toFixed(1)} s`,
      numberCell(durationMs === undefined ? '' : exactDuration(durationMs)),
      numberCell(String(httpStatus ?? '')),
      code === undefined ? 'unknown result' : [code, message !== told && message].filter(Boolean).join(': '),
    ];
    if (omitted === undefined) return [line];
    return [[element('td', { colspan: '4' }, `${counted(omitted, 'more attempt')}, not kept`)], line];
  });
  return tableElement('Attempts', ['Started', 'Duration', 'HTTP', 'Result'], lines);
}
