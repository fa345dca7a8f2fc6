import { z } from 'zod';

/** The number of a row, or its place in the order of calls: from 1. */
export const rowNumberSchema = z.number().int().min(1);

export const textsSchema = z.record(z.string(), z.string());

/**
 * Makes a reader for lines of one JSON value each. The first line compiles the schema, because a run reads millions.
 *
 * @param arrange makes the value that the schema checks from the parsed JSON
 * @returns a function whose result is undefined when a line is not JSON of this schema; keeps properties that the schema lacks
 */
export function lineReader<Value>(
  schema: z.ZodType<Value>,
  arrange: (json: unknown) => unknown = (json) => json,
): (line: string) => Value | undefined {
  let compiled: z.ZodType<Value, Value> | undefined;
  return (line) => {
    compiled ??= z.compile(schema) as z.ZodType<Value, Value>;
    try {
      const value = arrange(JSON.parse(line));
      return compiled.validate(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };
}
