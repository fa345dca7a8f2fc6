import { z } from 'zod';
import type { NameRule } from './names.ts';

/** Apart from the rules, which `--help` needs: it does not load zod. */
export function nameSchema({ has, remedy }: NameRule): z.ZodType<string> {
  return z.string().refine(has, remedy);
}
