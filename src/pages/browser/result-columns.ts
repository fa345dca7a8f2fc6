import { type Markup, markup } from '../../engine/report/html/markup.ts';
import type { PageData } from '../../engine/report/html/page-data.ts';
import type { Column } from './column.ts';
import type { ReportColumn, Rows } from './rows.ts';

/** The columns of the table in this order: the row and its result, its other cells, and the calls. */
export function tableColumns(rows: Rows, { operations }: Pick<PageData, 'operations'>): readonly Column[] {
  const { columns } = rows;
  const facts = (...names: readonly string[]): readonly Column[] =>
    names.flatMap((name) => columns.filter(({ id }) => id === `fact ${name}`));
  const cells = columns.filter(({ kind }) => kind === 'cell');
  const ordered = [
    ...facts('row'),
    ...cells.filter(({ role }) => role === 'subject'),
    ...(rows.factColumn('unclear').width > 0 ? [outcomeWithMark(rows)] : facts('outcome')),
    ...facts('code', 'message'),
    ...cells.filter(({ role }) => role === 'operation' && Object.keys(operations).length > 1),
    ...facts('unclear'),
    ...cells.filter(({ role }) => role === undefined),
    ...resultsBeyondCells(rows),
    ...facts('attempts', 'status', 'duration', 'started'),
    ...columns.filter(({ role }) => role === 'further'),
  ];
  return ordered.filter(({ width }) => width > 0);
}

/** The outcome, with a mark where the row is unclear: the column with the word may be beyond the edge of the screen. */
function outcomeWithMark(rows: Rows): Column {
  const [outcome, unclear] = [rows.factColumn('outcome'), rows.factColumn('unclear')];
  return {
    ...outcome,
    width: outcome.width + markWidth,
    drawn: (row) => [
      chipOf(outcome.text(row), outcome.shown(row)),
      unclear.text(row) !== '' && markup('span', { class: 'outcome unclear', title: 'unclear' }),
    ],
  };
}

/** The width of a chip with an icon only, in characters. */
const markWidth = 4;

/**
 * The columns of results, without those that repeat a cell of the same name, such as the identifier.
 *
 * @param row the row of which they are shown; by default all
 */
export function resultsBeyondCells({ columns, count }: Rows, row?: number): readonly ReportColumn[] {
  const [first, end] = row === undefined ? [0, count] : [row, row + 1];
  return columns.filter((column) => {
    if (column.kind !== 'result') return false;
    const cell = columns.find(({ kind, name }) => kind === 'cell' && name === column.name);
    if (cell === undefined) return true;
    for (let each = first; each < end; each += 1)
      if (!['', cell.text(each)].includes(column.text(each))) return true;
    return false;
  });
}

/** The columns of a narrow screen: the number of the row, and a card with the others. */
export function cardColumns(rows: Rows): readonly Column[] {
  const [outcome, code, message, unclear] = [
    rows.factColumn('outcome'),
    rows.factColumn('code'),
    rows.factColumn('message'),
    rows.factColumn('unclear'),
  ];
  const subjects = rows.columns.filter(({ role }) => role === 'subject');
  const subjectOf = (line: number): string =>
    subjects.map((subject) => subject.text(line)).find((text) => text !== '') ?? '';
  const shown = (line: number): string =>
    [subjectOf(line), outcome.shown(line), unclear.text(line), code.text(line), message.text(line)]
      .filter(Boolean)
      .join(' · ');
  const card: Column = {
    kind: 'fact',
    id: 'card',
    name: 'card',
    title: 'Entry and result',
    isNumber: false,
    look: 'long',
    width: 0,
    text: shown,
    shown,
    key: subjectOf,
    drawn: (line) => [
      markup(
        'div',
        { class: 'line' },
        markup('span', { class: 'entry' }, subjectOf(line)),
        chipOf(outcome.text(line), outcome.shown(line)),
      ),
      markup(
        'div',
        { class: 'lines' },
        unclear.text(line) !== '' && [chipOf('unclear', 'unclear'), ' '],
        markup('b', {}, code.text(line)),
        ` ${message.shown(line)}`,
      ),
    ],
  };
  return [rows.factColumn('row'), card];
}

function chipOf(name: string, text: string): Markup {
  return markup('span', { class: `outcome ${name}` }, text);
}
