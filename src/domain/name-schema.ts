import { z } from 'zod';
import type { NameRule } from './names.ts';

/** A file of its own, because `--help` needs the rules but not zod. */
export function nameSchema({ has, remedy }: NameRule): z.ZodType<string> {
  return z.string().refine(has, remedy);
}
