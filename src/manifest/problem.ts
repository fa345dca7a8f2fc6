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
