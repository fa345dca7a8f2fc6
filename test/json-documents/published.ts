import { z } from 'zod';
import { documentsOf, sharedParts } from './documents.ts';
import { declined, failure, interrupted } from './parts.ts';

/** The name of a command's documents in the published file: `schedule-add`. */
export function definitionOf(command: string): string {
  return command.replace(' ', '-');
}

/** What a command prints when it was not stopped, in words. */
export function descriptionOf(command: string): string {
  const own = (documentsOf[command] ?? []).filter((schema) => schema !== declined && schema !== interrupted);
  return own.map(({ description }) => description ?? '').join('; or ');
}

/** `docs/json.schema.json`: a definition for each command, and for each part that several of them have. */
export function publishedSchema(): object {
  const registry = z.registry<{ id?: string | undefined }>();
  for (const [id, schema] of Object.entries(sharedParts)) registry.add(schema, { id });
  for (const [command, schemas] of Object.entries(documentsOf))
    registry.add(z.union([...new Set([...schemas, failure])]), { id: definitionOf(command) });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/$defs/${id}`,
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  const definitions = Object.entries(schemas).map(([name, { $id: _, $schema: __, ...schema }]) => [
    name,
    schema,
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'documents that cqbatch prints with --json',
    description: 'Each command has a definition with its name.',
    $defs: Object.fromEntries(definitions),
  };
}
