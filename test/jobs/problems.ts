import type { z } from 'zod';

/** The problems that a row schema finds in a row, as `field: message`. */
export function problems(schema: z.ZodType, row: unknown): readonly string[] {
  const issues = schema.safeParse(row).error?.issues ?? [];
  return issues.map(({ path, message }) => [...path, message].join(': '));
}
