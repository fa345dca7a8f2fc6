import { stringifyJson } from '../text/json.ts';
import { escapeInvisible } from '../text/printable.ts';

/** What is wrong with a row, for `file:line: column: problem (value)`. */
export interface RowProblem {
  /** Original column name, when one column is to blame. */
  readonly column?: string;
  /** What is wrong and, where it is not obvious, the remedy. One line. */
  readonly problem: string;
  /** The offending value, shortened, control characters escaped. */
  readonly value?: string;
  /** What the spreadsheet calls the column, in a workbook: `B`. */
  readonly letters?: string;
}

/** A problem of a row for people, on one line: `file:line: column: problem (value)`; in a workbook `file:B17: …`. */
export function formatProblem(
  name: string,
  { line }: { readonly line: number },
  { column, problem, value, letters = '' }: RowProblem,
): string {
  const where = column === undefined ? '' : `${escapeInvisible(column)}: `;
  const what = value === undefined ? '' : ` (${value})`;
  return `${escapeInvisible(name)}:${letters}${line}: ${where}${problem}${what}`;
}

/** How many characters of a value are shown. */
const shownCharacters = 60;

/** A value for people: one line, at most 60 characters and an ellipsis, nothing that a terminal acts on. */
export function excerpt(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const characters = [...text.slice(0, 2 * shownCharacters + 2)];
  const shown = characters.slice(0, shownCharacters).join('');
  return escapeInvisible(shown) + (characters.length > shownCharacters ? '…' : '');
}

/** Rows that have the same problem in the same column. */
export interface ProblemGroup extends RowProblem {
  /** Number of rows; `value` is that of the first one. */
  readonly rows: number;
  /** The first stretches of rows that follow each other, by the lines on which they begin and end. */
  readonly stretches: readonly (readonly [firstLine: number, lastLine: number])[];
  /** Whether there are more stretches than those. */
  readonly hasMore: boolean;
}

const maxGroups = 50;
const maxStretches = 3;

interface OpenGroup {
  readonly problem: RowProblem;
  rows: number;
  lastRow: number;
  readonly stretches: [number, number][];
  hasMore: boolean;
}

/** Groups the problems of rows that come in their order. Memory does not grow with the number of problems. */
export class ProblemGroups {
  readonly #groups = new Map<string, OpenGroup>();

  /** In the order in which they were met first; problems that were met after too many different ones are in none. */
  get groups(): readonly ProblemGroup[] {
    return [...this.#groups.values()].map(({ problem, lastRow, ...group }) => ({ ...problem, ...group }));
  }

  add({ row, line }: { readonly row: number; readonly line: number }, problem: RowProblem): void {
    const key = `${problem.column ?? ''}\n${problem.problem}`;
    const group = this.#groups.get(key);
    if (group !== undefined) extend(group, row, line);
    else if (this.#groups.size < maxGroups)
      this.#groups.set(key, { problem, rows: 1, lastRow: row, stretches: [[line, line]], hasMore: false });
  }
}

function extend(group: OpenGroup, row: number, line: number): void {
  const { lastRow, stretches } = group;
  if (row === lastRow) return;
  group.rows++;
  group.lastRow = row;
  const last = stretches.at(-1);
  if (row === lastRow + 1 && last !== undefined && !group.hasMore) last[1] = line;
  else if (stretches.length < maxStretches) stretches.push([line, line]);
  else group.hasMore = true;
}
