import { composed } from './composed.ts';
import type { Delimiter } from './delimiter.ts';
import { stringifyJson } from './json.ts';

export interface GuardOptions {
  /** No text is written as this token, so that it reads back as text and not as "clear this field". */
  readonly clearToken?: string;
  /**
   * Guards text behind commas, too: with another delimiter, a comma may stand outside of quotes, where a program that expects commas splits
   * the text.
   */
  readonly commas?: boolean;
}

/** A character that begins a formula (OWASP, "CSV Injection"), with full-width and small forms. */
const sign = '[=+\\-@＝＋－＠﹦﹢﹣﹫]';

/**
 * May precede the sign, as a part of a character class: white space, controls (including NUL), invisible characters, and quotes, which a
 * program removes if it splits the text elsewhere. Apostrophes belong to it, so that no two texts are guarded alike.
 */
const veil = '\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}"\'';

const formulaStart = new RegExp(`^(?:[${veil}]*${sign}|'*[\\t\\r\\n])`, 'u');

/** Signed numbers are not formulas, and apostrophes would break sums. */
const plainNumber = /^[+-]?\d+(?:[.,]\d+)?$/;

function placesToCut(visible: string) {
  return {
    any: new RegExp(`[${visible}\\t\\r\\n]`),
    each: new RegExp(`[${visible}\\t\\r\\n]`, 'g'),
    guarded: new RegExp(`([${visible}\\t\\r\\n])'`, 'g'),
    /** From a visible character to a sign. The lookbehind matches each run only once. */
    beforeSign: new RegExp(`(?<![${veil}${visible}])[${veil}${visible}]+(?=${sign})`, 'gu'),
    visible: [...visible],
  };
}

type Cuts = ReturnType<typeof placesToCut>;

const cutsWithoutCommas = placesToCut(';|');
const cutsWithCommas = placesToCut(',;|');

/**
 * Text for a CSV cell that no spreadsheet runs: an apostrophe goes before text that might be a formula, also after a semicolon, a pipe, a
 * tab or a line break, where a spreadsheet may split. Plain numbers such as `-12.5` stay unchanged. `unguardCell` with the same options
 * restores the exact text.
 */
export function guardCell(text: string, { clearToken, commas }: GuardOptions = {}): string {
  const cuts = commas ? cutsWithCommas : cutsWithoutCommas;
  const pieces = rewriteCuts(text, cuts, cuts.each, "$&'");
  const guarded = isFormula(text) ? `'${pieces}` : pieces;
  return isQuotedToken(guarded, clearToken) ? `'${guarded}` : guarded;
}

export function unguardCell(text: string, { clearToken, commas }: GuardOptions = {}): string {
  const cuts = commas ? cutsWithCommas : cutsWithoutCommas;
  const guarded = text.startsWith("'") && isQuotedToken(text, clearToken) ? text.slice(1) : text;
  const pieces = rewriteCuts(guarded, cuts, cuts.guarded, '$1');
  return pieces.startsWith("'") && isFormula(pieces.slice(1)) ? pieces.slice(1) : pieces;
}

function isFormula(text: string): boolean {
  return formulaStart.test(text) && !plainNumber.test(text);
}

function rewriteCuts(text: string, cuts: Cuts, pattern: RegExp, replacement: string): string {
  if (!cuts.any.test(text)) return text;
  return text.replace(cuts.beforeSign, (run) => {
    const last = Math.max(...cuts.visible.map((character) => run.lastIndexOf(character)), 0);
    return run.slice(0, last) + run.slice(last).replace(pattern, replacement);
  });
}

function isQuotedToken(text: string, token: string | undefined): boolean {
  if (token === undefined) return false;
  const [end, whole] = [composed(token), composed(text)];
  return whole.endsWith(end) && /^'*$/.test(whole.slice(0, whole.length - end.length));
}

/**
 * A cell of a `ManifestRow` as text for a CSV file: in a row whose column `guardColumn` is `yes`, it reads back unchanged, and no
 * spreadsheet runs it. Absent and null become the empty cell, the empty string the clear token, other JSON values JSON text.
 */
export function cellText(value: unknown, clearToken: string, guard: Guard = guardCell): string {
  if (value === undefined || value === null) return '';
  if (value === '') return clearToken;
  return guard(typeof value === 'string' ? value : stringifyJson(value), { clearToken });
}

export type Guard = typeof guardCell;

export function guardFor(delimiter: Delimiter): Guard {
  return delimiter === ',' ? guardCell : (text, options) => guardCell(text, { ...options, commas: true });
}

/** The column that says whether the cells of a row are guarded; its name says how all column names are. */
export function guardColumn(delimiter: Delimiter): string {
  return delimiter === ',' ? '_guarded' : '_guarded_commas';
}
