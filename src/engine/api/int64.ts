/** Identifiers and counts have 64 bits (document, section 2). A `number` would round them above 9007199254740991. */

/** An argument of 64 bits: a bigint, a safe integer, or a string of decimal digits. */
export type Int64Input = bigint | number | string;

export const maxInt64 = 9223372036854775807n;

const maxInt64Text = String(maxInt64);

/**
 * The canonical decimal text of an integer. Undefined when the value is not an integer from `min` to 9223372036854775807, or a `number`
 * that may have been rounded.
 */
export function int64Text(value: unknown, min: 0 | 1): string | undefined {
  if (typeof value === 'string') return canonicalDigits(value, min);
  if (typeof value === 'bigint') return canonicalDigits(String(value), min);
  return Number.isSafeInteger(value) ? canonicalDigits(String(value), min) : undefined;
}

/**
 * The canonical decimal text of an argument of the typed functions.
 *
 * @throws RangeError that names the argument.
 */
export function requireInt64(name: string, value: Int64Input, min: 0 | 1): string {
  const text = int64Text(value, min);
  if (text === undefined) {
    throw new RangeError(`${name} must be an exact whole number from ${min} to ${maxInt64Text}`);
  }
  return text;
}

/**
 * An integer in JSON: a number literal up to 9007199254740991; above, text, as Protocol Buffers write 64 bits in JSON. A service that reads
 * JSON in JavaScript rounds a larger number literal, and would change another entry.
 *
 * @param digits canonical decimal
 */
export function int64Json(digits: string): string {
  const isRounded = digits.length >= safeDigits && BigInt(digits) > Number.MAX_SAFE_INTEGER;
  return isRounded ? `"${digits}"` : digits;
}

const safeDigits = String(Number.MAX_SAFE_INTEGER).length;

function canonicalDigits(text: string, min: 0 | 1): string | undefined {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  const digits = /^\s*0*(\d+)\s*$/.exec(text)?.[1];
  if (digits === undefined || digits.length > maxInt64Text.length) return undefined;
  if (digits.length === maxInt64Text.length && digits > maxInt64Text) return undefined;
  return digits === '0' && min > 0 ? undefined : digits;
}
