import { stringifyJson } from '../../base/text/json.ts';
import { escapeInvisible } from '../../base/text/printable.ts';

export interface RowProblem {
  /** The column's title as written in the manifest. Absent when several columns are concerned. */
  readonly column?: string;
  /** What is wrong, in one line, with the remedy if not obvious. */
  readonly problem: string;
  /** The value of the cell, shortened, with control characters escaped. */
  readonly value?: string;
  /** The letters of a workbook's column: `B`. */
  readonly letters?: string;
}

/** Where people find a row: in the file, and in a plan or report. */
export interface RowPosition {
  readonly row: number;
  readonly line: number;
}

/** `row 4, line 5` */
export function positionText({ row, line }: RowPosition): string {
  return `row ${row}, line ${line}`;
}

/** A problem in one line: `file:5: row 4, column: problem (value)`, or `file:B5: row 4, …` for a workbook. */
export function formatProblem(
  name: string,
  { row, line }: RowPosition,
  { column, problem, value, letters = '' }: RowProblem,
): string {
  const where = column === undefined ? '' : `, ${column}`;
  const what = value === undefined ? '' : ` (${value})`;
  // Escape the whole line, because the rows of a plan file have texts of another person.
  return escapeInvisible(`${name}:${letters}${line}: row ${row}${where}: ${problem}${what}`);
}

const shownCharacters = 60;

/** A value in one line of at most 60 characters and an ellipsis, without control characters. */
export function excerpt(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const characters = [...text.slice(0, 2 * shownCharacters + 2)];
  const shown = characters.slice(0, shownCharacters).join('');
  return escapeInvisible(shown) + (characters.length > shownCharacters ? '…' : '');
}

export interface ProblemGroup extends RowProblem {
  /** The number of rows with this problem, whose `value` is that of the first row. */
  readonly rows: number;
  /** The first ranges of consecutive rows. */
  readonly stretches: readonly (readonly [first: RowPosition, last: RowPosition])[];
  readonly hasMore: boolean;
}

const maxGroups = 50;
const maxStretches = 3;

interface MutableProblemGroup {
  readonly problem: RowProblem;
  rows: number;
  lastRow: number;
  readonly stretches: [first: RowPosition, last: RowPosition][];
  hasMore: boolean;
}

/** Groups of equal problems, in row order. Memory does not grow with the number of problems. */
export class ProblemGroups {
  readonly #groups = new Map<string, MutableProblemGroup>();

  get groups(): readonly ProblemGroup[] {
    return [...this.#groups.values()].map(({ problem, lastRow, ...group }) => ({ ...problem, ...group }));
  }

  add({ row, line }: RowPosition, problem: RowProblem): void {
    const position = { row, line };
    const key = `${problem.column ?? ''}\n${problem.problem}`;
    const group = this.#groups.get(key);
    if (group !== undefined) extendStretches(group, position);
    else if (this.#groups.size < maxGroups)
      this.#groups.set(key, {
        problem,
        rows: 1,
        lastRow: row,
        stretches: [[position, position]],
        hasMore: false,
      });
  }
}

function extendStretches(group: MutableProblemGroup, position: RowPosition): void {
  const { lastRow, stretches } = group;
  const { row } = position;
  if (row === lastRow) return;
  group.rows++;
  group.lastRow = row;
  const last = stretches.at(-1);
  if (row === lastRow + 1 && last !== undefined && !group.hasMore) last[1] = position;
  else if (stretches.length < maxStretches) stretches.push([position, position]);
  else group.hasMore = true;
}
