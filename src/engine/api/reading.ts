/**
 * Answers are read exactly where it matters, tolerantly elsewhere: the interface document leaves open which fields are required and how
 * they are written (sections 2.7 and 7).
 *
 * - Keys may be snake_case or lowerCamelCase, as in Protocol Buffers JSON.
 * - `null` means absent. Unknown fields are left out, unknown enum values are kept.
 * - Integers may be JSON numbers or decimal strings.
 * - A field that cannot be understood is left out: refusing the answer would report a change that was made as failed.
 */

import { z } from 'zod';
import { isJsonObject, isLosslessNumber, stringifyJson } from '../../base/text/json.ts';

/** Reads a value; undefined if it can't be understood. A function, not a schema, because it runs for each row. */
export type Read<T> = (value: unknown) => T | undefined;

export type ReadBy<Reader> = Reader extends Read<infer T> ? T : never;

/** The fields that an object has, by lowerCamelCase name. Any field may be absent. */
export type Parts<Fields> = { readonly [Name in keyof Fields]?: ReadBy<Fields[Name]> | undefined };

/** An enumeration of which the complete set of values is not documented. */
export type OpenEnum<Known extends string> = Known | (string & {});

/** Reads an integer as a `bigint`: exact, ordered, and comparable with `===`. `stringifyJson` writes it as JSON. */
export function integer(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

/** Reads an identifier. Identifiers begin with 1: services that write zero values write 0 for none. */
export function entityId(value: unknown): bigint | undefined {
  return integer(value) || undefined;
}

export function decimal(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || isLosslessNumber(value)) return Number(value.toString());
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)
    ? Number(value)
    : undefined;
}

export function text(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || isLosslessNumber(value)
    ? value.toString()
    : undefined;
}

/** Reads a time as text, because its format is undocumented (section 2.7). Undefined for what programs write for an absent time. */
export function time(value: unknown): string | undefined {
  return hasTime(value) ? (text(value) ?? stringifyJson(value)) : undefined;
}

/** Whether a value has a time. An object has one if any member has: `{ "seconds": "0", "nanos": 0 }` has none. */
function hasTime(value: unknown): boolean {
  if (typeof value === 'object' && value !== null && !isLosslessNumber(value))
    return Object.values(value).some(hasTime);
  const written = String(value ?? '');
  const isBeforeClocks = /^\d{4}-\d\d-\d\d/.test(written) && written.slice(0, zeroDay.length) <= zeroDay;
  return !isBeforeClocks && !noTime.test(written);
}

/**
 * What programs write for an absent time: blanks and zeros (`0000-00-00 00:00:00`), negative numbers, words for nothing, and the first day
 * of a clock with its parts in the order of other countries.
 */
const noTime =
  /^(?:[\s0:.,+/TZ-]*|-\d+(?:\.\d+)?|null|none|nil|never|undefined|nan|n\/a|false|0?1[/.]0?1[/.](?:0001|1970)\b.*)$/i;

/** The day on which Unix time begins. Other clocks begin earlier: in 1900, in the year 1, or a day before in another time zone. */
const zeroDay = '1970-01-01';

export function flag(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
}

/** Reads a list, without elements that can't be understood. */
export function listOf<T>(element: Read<T>): Read<readonly T[]> {
  return (value) =>
    Array.isArray(value) ? value.map(element).filter((each) => each !== undefined) : undefined;
}

export function object<Fields extends Readonly<Record<string, Read<unknown>>>>(
  fields: Fields,
): Read<Parts<Fields>> {
  const byKey = new Map<string, { readonly name: string; readonly read: Read<unknown> }>();
  for (const [name, read] of Object.entries(fields)) {
    byKey.set(name, { name, read });
    byKey.set(snakeCase(name), { name, read });
  }
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    const parts: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const field = byKey.get(key);
      if (field !== undefined && value[key] !== null) parts[field.name] = field.read(value[key]);
    }
    return parts as Parts<Fields>;
  };
}

export function schemaOf<T extends object>(read: Read<T>): z.ZodType<T> {
  return z.transform((value: unknown, { issues }) => {
    const object = read(value);
    if (object !== undefined) return object;
    issues.push({ code: 'invalid_type', expected: 'object', input: value });
    return z.NEVER;
  });
}

/** The value of a 2xx answer, or why it does not answer the request. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ReadingProblem; readonly message: string };

/**
 * - `ANSWER_INCOMPLETE`: the identifier is missing or unreadable.
 * - `ANSWER_ID_MISMATCH`: the answer is about another entity.
 */
type ReadingProblem = 'ANSWER_INCOMPLETE' | 'ANSWER_ID_MISMATCH' | 'ANSWER_STILL_DELETED';

/** Checks that an answer is about the requested entity. @param sent the identifier in the request, as canonical decimal */
export function readIdentifier(field: string, sent: string, received: bigint | undefined): Reading<bigint> {
  if (received === undefined) {
    return { ok: false, code: 'ANSWER_INCOMPLETE', message: `The answer has no readable ${field}` };
  }
  if (String(received) !== sent) {
    const message = `The answer is for ${field} ${received}, but the request was for ${sent}`;
    return { ok: false, code: 'ANSWER_ID_MISMATCH', message };
  }
  return { ok: true, value: received };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
