import { z } from 'zod';
import { int64Text, maxInt64 } from '../api/int64.ts';
import { isLosslessNumber } from '../json.ts';

/** How the fields of a row schema are described; `missing` is the message for a row that lacks a required field. */
interface Requirement {
  readonly missing?: string;
}

/**
 * A 64-bit integer in a manifest: decimal text (CSV), or an exact JSON number. Gives canonical decimal text. Blanks
 * around it are dropped; everything else that spreadsheets do to long numbers is an error, because digits may be lost.
 */
export function integerField({ min, missing }: Requirement & { readonly min: 0 | 1 }): z.ZodType<string> {
  return z.transform((value: unknown, context) => {
    const text = int64Text(value, min);
    if (text !== undefined) return text;
    context.issues.push({ code: 'custom', message: integerProblem(value, min, missing), input: value });
    return z.NEVER;
  });
}

/** A string in a manifest, taken as it is; of an identifier, which is never empty, without the blanks around it. */
export function textField({
  missing,
  isIdentifier,
}: Requirement & { readonly isIdentifier: boolean }): z.ZodType<string> {
  return z.transform((value: unknown, context) => {
    if (typeof value === 'string' && !isIdentifier) return value;
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    context.issues.push({ code: 'custom', message: textProblem(value, missing), input: value });
    return z.NEVER;
  });
}

function integerProblem(value: unknown, min: 0 | 1, missing: string | undefined): string {
  const range = `a whole number from ${min} to ${maxInt64}`;
  if (isMissing(value) && missing !== undefined) return missing;
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `may have lost digits as a JavaScript number; give ${range} as text or bigint`;
  }
  const text = numberText(value);
  if (text === '') return `cannot be empty or cleared; must be ${range}`;
  const mangled = spreadsheetForms.find(({ form }) => form.test(text));
  if (mangled !== undefined) return mangled.problem;
  return /^-?\d+$/.test(text) ? `out of range; must be ${range}` : `must be ${range}, in digits only`;
}

function numberText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return isLosslessNumber(value)
    ? value.toString()
    : String(typeof value === 'object' ? typeof value : value);
}

/** What spreadsheets make of long numbers, and how to get the digits back. */
const spreadsheetForms: readonly { readonly form: RegExp; readonly problem: string }[] = [
  {
    form: /^-?\d+(?:[.,]\d+)?e[+-]?\d+$/i,
    problem:
      'is in scientific notation, so digits may be lost; format the column as text in the spreadsheet, enter the numbers again and export again',
  },
  {
    form: /^-?\d{1,3}(?:[,.'’\s_]\d{3})+$/,
    problem: 'has separators between its digits; format the column as text and write digits only',
  },
  {
    form: /^-?\d+[.,]\d+$/,
    problem:
      'has decimals, so digits may be lost; format the column as text, write whole numbers and export again',
  },
  { form: /^(?:'\d+|="?'?\d+"?)$/, problem: "has a spreadsheet's text mark; write the digits alone" },
  {
    form: /^#/,
    problem: 'is an error value or a column that was too narrow in the spreadsheet; export again',
  },
];

function textProblem(value: unknown, missing: string | undefined): string {
  if (isMissing(value)) return missing ?? 'must be text';
  return 'must be text; in JSON write it in quotes';
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
