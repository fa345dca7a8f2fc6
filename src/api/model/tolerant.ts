/**
 * How answers are read: exactly where it matters, tolerantly elsewhere, because the interface document leaves open
 * which fields are required and how they are written (sections 2.7 and 7).
 *
 * - Keys may be snake_case or lowerCamelCase, as Protocol Buffers JSON allows.
 * - `null` means absent. Unknown fields are left out, unknown enum values are kept.
 * - Integers may be JSON numbers or decimal strings.
 * - A field of a type that cannot be understood is left out. An answer that arrived means a change that was made;
 *   refusing it for a side detail would report a done change as failed.
 */

import { z } from 'zod';
import { isLosslessNumber, stringifyJson } from '../../json.ts';

/** An enumeration whose complete value set is not documented. */
export type OpenEnum<Known extends string> = Known | (string & {});

/** Schemas for the fields of `T`, one for each, by lowerCamelCase name. */
export type Fields<T> = { readonly [Name in keyof T]-?: z.ZodType<T[Name]> };

/**
 * A 64-bit integer as `bigint`: exact, ordered, and comparable with `===`. (Decimal text would sort "10" before "9".)
 * Written as JSON by `stringifyJson`.
 */
export const integer: z.ZodType<bigint | undefined> = z.transform(toInteger);

/** A number that may have decimals: a score, points. */
export const decimal: z.ZodType<number | undefined> = z.transform(toDecimal);

/** A string; numbers are accepted as their text. */
export const text: z.ZodType<string | undefined> = z.transform(toText);

/** A time, opaque because its format is not documented (section 2.7): text, or the JSON text of anything else. */
export const time: z.ZodType<string | undefined> = z.transform((value: unknown) =>
  value === undefined ? undefined : (toText(value) ?? stringifyJson(value)),
);

/** `true` or `false`, also as strings. */
export const flag: z.ZodType<boolean | undefined> = z.transform((value: unknown) => {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  return undefined;
});

/** An array of integers; elements that are none are left out. */
export const integers: z.ZodType<readonly bigint[] | undefined> = z.transform((value: unknown) =>
  Array.isArray(value) ? value.map(toInteger).filter((element) => element !== undefined) : undefined,
);

/** An array of objects; elements that are none are left out. */
export function list<T>(element: z.ZodType<T>): z.ZodType<readonly T[] | undefined> {
  const objects = z.transform((value: unknown): unknown =>
    Array.isArray(value) ? value.filter(isObject) : undefined,
  );
  return z.pipe(objects, z.array(element).optional());
}

/** An object inside another. */
export function nested<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return z.pipe(
    z.transform((value: unknown): unknown => (isObject(value) ? value : undefined)),
    schema.optional(),
  );
}

/** An object with these fields; the only schema here that can fail, when the value is no object. */
export function object<T extends object>(fields: Fields<T>): z.ZodType<T> {
  const names = new Map<string, string>();
  const shape: Record<string, z.ZodType> = {};
  for (const [name, schema] of Object.entries<z.ZodType>(fields)) {
    names.set(name, name);
    names.set(snakeCase(name), name);
    shape[name] = schema.optional();
  }
  const named = z.transform((value: unknown): unknown => (isObject(value) ? pick(value, names) : value));
  return z.pipe(named, z.object(shape)) as unknown as z.ZodType<T>;
}

function pick(value: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    const name = names.get(key);
    if (name !== undefined && field !== null) known[name] = field;
  }
  return known;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function toDecimal(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || isLosslessNumber(value)) return Number(value.toString());
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)
    ? Number(value)
    : undefined;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || isLosslessNumber(value)
    ? value.toString()
    : undefined;
}
