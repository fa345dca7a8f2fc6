import { readFileSync } from 'node:fs';
import type { z } from 'zod';

export type JsonSchema = Exclude<z.core.JSONSchema.JSONSchema, boolean>;

/** `docs/json.schema.json`: a definition for each command, and for each part that several of them have. */
export const published = JSON.parse(
  readFileSync(new URL('../../docs/json.schema.json', import.meta.url), 'utf8'),
) as { readonly $defs: Readonly<Record<string, JsonSchema>> };

/** The name of the definition of a command's documents: `schedule-add`. */
export function definitionOf(command: string): string {
  return command.replace(' ', '-');
}

/** What a command prints with `--json`: one of these documents. */
export function documentsOf(command: string): readonly JsonSchema[] {
  return (published.$defs[definitionOf(command)]?.anyOf ?? []) as readonly JsonSchema[];
}

/** What a document is, in words. */
export function descriptionOf({ $ref, description }: JsonSchema): string {
  return description ?? published.$defs[$ref?.split('/').at(-1) ?? '']?.description ?? '';
}
