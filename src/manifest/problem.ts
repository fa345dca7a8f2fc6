import { escapeInvisible } from '../printable.ts';
import type { ManifestRow, RowProblem } from './row.ts';

/** A problem of a row for people, on one line: `file:line: column: problem (value)`. */
export function formatProblem(
  name: string,
  { line }: Pick<ManifestRow, 'line'>,
  { column, problem, value }: RowProblem,
): string {
  const where = column === undefined ? '' : `${escapeInvisible(column)}: `;
  const what = value === undefined ? '' : ` (${value})`;
  return `${escapeInvisible(name)}:${line}: ${where}${problem}${what}`;
}
