import { stringifyJson } from '../json.ts';
import { guardCell } from './formula-guard.ts';

/**
 * Writes a cell of a `ManifestRow` as text for a CSV file: in a row whose `_guarded` column says `yes` it reads back
 * as the same cell, and no spreadsheet runs it. What is absent or null becomes the empty cell, the empty string the
 * clear token; JSON values other than strings become JSON text. Column names go through `guardCell` as well.
 */
export function cellText(value: unknown, clearToken: string): string {
  if (value === undefined || value === null) return '';
  if (value === '') return clearToken;
  return guardCell(typeof value === 'string' ? value : stringifyJson(value), { clearToken });
}
