import { isJsonObject } from './json.ts';

/** Reading lines of files that hold one JSON object each. Fast checks by hand, because a run reads millions of lines. */

export type JsonFields = Readonly<Record<string, unknown>>;

/** The object of a line; undefined when the line is no JSON object. */
export function parseFields(line: string): JsonFields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is the number or the place of a row. */
export function isRowNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isAbsentOr<T>(is: (value: unknown) => value is T, value: unknown): value is T | undefined {
  return value === undefined || is(value);
}
