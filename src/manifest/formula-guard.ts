/** What guarding and unguarding need to know besides the text. */
export interface GuardOptions {
  /** When given, text equal to this token is guarded too, so that it reads back as text and not as "clear this field". */
  readonly clearToken?: string;
}

/**
 * Beginnings that a spreadsheet takes for a formula or that hide one (OWASP, "CSV Injection"), full-width forms
 * included, after any number of apostrophes: so guarding is reversible.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Signed numbers are no formulas, and apostrophes before them would spoil sums. */
const plainNumber = /^[+-]?\d+(?:[.,]\d+)?$/;

/**
 * Text for a CSV cell that a spreadsheet will not run: an apostrophe goes before text that it might. Plain numbers
 * such as `-12.5` stay as they are. `unguardCell` with the same options gives back the very text.
 */
export function guardCell(text: string, options: GuardOptions = {}): string {
  return needsGuard(text, options) ? `'${text}` : text;
}

/** The text that `guardCell` was given. */
export function unguardCell(text: string, options: GuardOptions = {}): string {
  return text.startsWith("'") && needsGuard(text.slice(1), options) ? text.slice(1) : text;
}

/** Text that needs the guard needs it with an apostrophe before it as well: hence no two texts are guarded alike. */
function needsGuard(text: string, { clearToken }: GuardOptions): boolean {
  if (formula.test(text) && !plainNumber.test(text)) return true;
  return clearToken !== undefined && isQuotedToken(text, clearToken);
}

function isQuotedToken(text: string, token: string): boolean {
  return text.endsWith(token) && /^'*$/.test(text.slice(0, text.length - token.length));
}
