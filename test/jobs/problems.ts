import type { z } from 'zod';

/** What a row schema finds wrong with a row, as `field: message`. */
export function problems(schema: z.ZodType, row: unknown): readonly string[] {
  const issues = schema.safeParse(row).error?.issues ?? [];
  return issues.map(({ path, message }) => [...path, message].join(': '));
}
