/** An exact integer, as `json.ts` reads it: `number` where that is safe, otherwise `bigint`. */
export type Integer = number | bigint;

/** The largest identifier: 64 bits, signed. */
export const maxIdentifier = 2n ** 63n - 1n;

/** Reads an integer that JSON gives as a number or as a decimal string (interface document, section 2). */
export function readInteger(value: unknown): Integer | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return undefined;
  const exact = BigInt(value);
  const inexact = Number(exact);
  return Number.isSafeInteger(inexact) ? inexact : exact;
}

/** Reads an identifier: an integer from 1 to 9223372036854775807. */
export function readIdentifier(value: unknown): Integer | undefined {
  const identifier = readInteger(value);
  return identifier !== undefined && identifier >= 1 && identifier <= maxIdentifier ? identifier : undefined;
}
