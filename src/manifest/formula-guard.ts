import { stringifyJson } from '../json.ts';

/** What guarding and unguarding need to know besides the text. */
export interface GuardOptions {
  /** When given, no text is written as this token, so that it reads back as text and not as "clear this field". */
  readonly clearToken?: string;
}

/** Signs with which a formula begins (OWASP, "CSV Injection"), their full-width and small forms included. */
const sign = '[=+\\-@＝＋－＠﹦﹢﹣﹫]';

/**
 * What may stand before the sign, as a part of a character class: white space, controls (NUL among them), zero-width
 * and other invisible characters, and quotes, which a program takes away that cuts the text elsewhere than was meant.
 * Apostrophes are among them, so that text which looks guarded is guarded too: hence no two texts are guarded alike.
 */
const veil = '\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}"\'';

/** A cell that begins like a formula, or with what some programs take away before they look. */
const formulaStart = new RegExp(`^(?:[${veil}]*${sign}|'*[\\t\\r\\n])`, 'u');

/** Signed numbers are no formulas, and apostrophes before them would spoil sums. */
const plainNumber = /^[+-]?\d+(?:[.,]\d+)?$/;

/** Places within a cell at which a program may begin another one. */
const cut = /[;|\t\r\n]/;
const cuts = /[;|\t\r\n]/g;
const guardedCuts = /([;|\t\r\n])'/g;

/** Everything between a visible character and a sign. Looking behind has each such run looked at once only. */
const beforeSign = new RegExp(`(?<![${veil};|])[${veil};|]+(?=${sign})`, 'gu');

/**
 * Text for a CSV cell that a spreadsheet will not run: an apostrophe goes before text that it might. So it does within
 * the text, behind a semicolon, a pipe, a tab or a line break, where a spreadsheet cuts that takes another delimiter
 * than the file's. Plain numbers such as `-12.5` stay as they are. `unguardCell` with the same options gives back the
 * very text.
 */
export function guardCell(text: string, { clearToken }: GuardOptions = {}): string {
  const pieces = rewriteCuts(text, cuts, "$&'");
  const guarded = isFormula(text) ? `'${pieces}` : pieces;
  return isQuotedToken(guarded, clearToken) ? `'${guarded}` : guarded;
}

/** The text that `guardCell` was given. */
export function unguardCell(text: string, { clearToken }: GuardOptions = {}): string {
  const guarded = text.startsWith("'") && isQuotedToken(text, clearToken) ? text.slice(1) : text;
  const pieces = rewriteCuts(guarded, guardedCuts, '$1');
  return pieces.startsWith("'") && isFormula(pieces.slice(1)) ? pieces.slice(1) : pieces;
}

function isFormula(text: string): boolean {
  return formulaStart.test(text) && !plainNumber.test(text);
}

/** Rewrites those cuts behind which a piece begins like a formula. */
function rewriteCuts(text: string, pattern: RegExp, replacement: string): string {
  if (!cut.test(text)) return text;
  return text.replace(beforeSign, (run) => {
    // Semicolons and pipes are visible: the piece with the sign begins behind the last of them.
    const last = Math.max(run.lastIndexOf(';'), run.lastIndexOf('|'), 0);
    return run.slice(0, last) + run.slice(last).replace(pattern, replacement);
  });
}

/** The token behind any number of apostrophes. */
function isQuotedToken(text: string, token: string | undefined): boolean {
  if (token === undefined || !text.endsWith(token)) return false;
  return /^'*$/.test(text.slice(0, text.length - token.length));
}

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
