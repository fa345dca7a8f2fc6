import { stringifyJson } from '../text/json.ts';
import type { Delimiter } from './manifest.ts';

/** What guarding and unguarding need to know besides the text. */
export interface GuardOptions {
  /** When given, no text is written as this token, so that it reads back as text and not as "clear this field". */
  readonly clearToken?: string;
  /**
   * Whether text is guarded behind commas, too: in files with another delimiter a comma may stand outside of quotes, where
   * a program cuts that expects it.
   */
  readonly commas?: boolean;
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

/** Places within a cell at which a program may begin another one; those that can be seen are given. */
function placesToCut(visible: string) {
  return {
    any: new RegExp(`[${visible}\\t\\r\\n]`),
    each: new RegExp(`[${visible}\\t\\r\\n]`, 'g'),
    guarded: new RegExp(`([${visible}\\t\\r\\n])'`, 'g'),
    /** Everything between a visible character and a sign. Looking behind has each such run looked at once only. */
    beforeSign: new RegExp(`(?<![${veil}${visible}])[${veil}${visible}]+(?=${sign})`, 'gu'),
    visible: [...visible],
  };
}

type Cuts = ReturnType<typeof placesToCut>;

const usualCuts = placesToCut(';|');
const cutsWithCommas = placesToCut(',;|');

/**
 * Text for a CSV cell that a spreadsheet will not run: an apostrophe goes before text that it might. So it does within
 * the text, behind a semicolon, a pipe, a tab or a line break, where a spreadsheet cuts that takes another delimiter
 * than the file's. Plain numbers such as `-12.5` stay as they are. `unguardCell` with the same options gives back the
 * very text.
 */
export function guardCell(text: string, { clearToken, commas }: GuardOptions = {}): string {
  const cuts = commas ? cutsWithCommas : usualCuts;
  const pieces = rewriteCuts(text, cuts, cuts.each, "$&'");
  const guarded = isFormula(text) ? `'${pieces}` : pieces;
  return isQuotedToken(guarded, clearToken) ? `'${guarded}` : guarded;
}

/** The text that `guardCell` was given. */
export function unguardCell(text: string, { clearToken, commas }: GuardOptions = {}): string {
  const cuts = commas ? cutsWithCommas : usualCuts;
  const guarded = text.startsWith("'") && isQuotedToken(text, clearToken) ? text.slice(1) : text;
  const pieces = rewriteCuts(guarded, cuts, cuts.guarded, '$1');
  return pieces.startsWith("'") && isFormula(pieces.slice(1)) ? pieces.slice(1) : pieces;
}

function isFormula(text: string): boolean {
  return formulaStart.test(text) && !plainNumber.test(text);
}

/** Rewrites those cuts behind which a piece begins like a formula. */
function rewriteCuts(text: string, cuts: Cuts, pattern: RegExp, replacement: string): string {
  if (!cuts.any.test(text)) return text;
  return text.replace(cuts.beforeSign, (run) => {
    // The piece with the sign begins behind the last of the cuts that can be seen.
    const last = Math.max(...cuts.visible.map((character) => run.lastIndexOf(character)), 0);
    return run.slice(0, last) + run.slice(last).replace(pattern, replacement);
  });
}

/** The token behind any number of apostrophes. */
function isQuotedToken(text: string, token: string | undefined): boolean {
  if (token === undefined || !text.endsWith(token)) return false;
  return /^'*$/.test(text.slice(0, text.length - token.length));
}

/**
 * Writes a cell of a `ManifestRow` as text for a CSV file: in a row whose column `guardColumn` says `yes` it reads
 * back as the same cell, and no spreadsheet runs it. What is absent or null becomes the empty cell, the empty string the
 * clear token; JSON values other than strings become JSON text. Column names go through the guard as well.
 */
export function cellText(value: unknown, clearToken: string, guard: Guard = guardCell): string {
  if (value === undefined || value === null) return '';
  if (value === '') return clearToken;
  return guard(typeof value === 'string' ? value : stringifyJson(value), { clearToken });
}

/** Keeps a text from being run as a formula. */
export type Guard = typeof guardCell;

/** The guard for a file with such a delimiter. */
export function guardFor(delimiter: Delimiter): Guard {
  return delimiter === ',' ? guardCell : (text, options) => guardCell(text, { ...options, commas: true });
}

/** The column that says whether the cells of a row were guarded, and how the names of all columns were. */
export function guardColumn(delimiter: Delimiter): string {
  return delimiter === ',' ? '_guarded' : '_guarded_commas';
}
