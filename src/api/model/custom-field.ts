import type { z } from 'zod';
import { object, text } from './tolerant.ts';

/** Interface document, section 2.5: element of `custom_fields`. */
export interface CustomField {
  readonly key?: string | undefined;
  readonly field?: string | undefined;
}

/** Reads a custom field (section 2.5). */
export const customFieldSchema: z.ZodType<CustomField> = object<CustomField>({ key: text, field: text });
