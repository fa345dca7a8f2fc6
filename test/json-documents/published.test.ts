import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { everyCommand } from '../cli/help.ts';
import { documentsOf, sharedParts } from './documents.ts';
import { definitionOf } from './published.ts';

const file = JSON.parse(readFileSync('docs/json.schema.json', 'utf8')) as {
  readonly $defs: Record<string, z.core.JSONSchema.JSONSchema>;
};

/** The documents of a command, as a program that has only the file reads them. */
function asPublished(command: string): z.ZodType {
  return z.fromJSONSchema({ ...file, $ref: `#/$defs/${definitionOf(command)}` });
}

/** The definitions that a definition refers to, by their names. */
function referredFrom(name: string): readonly string[] {
  const found = JSON.stringify(file.$defs[name]).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g);
  return [...found].map(([, other = '']) => other);
}

test('each command with --json has documents, and only these commands have', async () => {
  const commands = [...(await everyCommand())].filter(([, { options }]) =>
    options.some(({ long }) => long === '--json'),
  );
  expect(Object.keys(documentsOf).toSorted()).toEqual(commands.map(([name]) => name).toSorted());
});

test('the published file has a definition for each command and shared part, and refers to no others', () => {
  const names = Object.keys(file.$defs);
  const wanted = [...Object.keys(documentsOf).map(definitionOf), ...Object.keys(sharedParts)];
  expect(names.toSorted()).toEqual(wanted.toSorted());
  const referred = new Set(names.flatMap(referredFrom));
  expect([...referred].toSorted()).toEqual(Object.keys(sharedParts).toSorted());
});

test.each([
  ['plan', { error: { code: 'MANIFEST_MISSING', message: 'rows.csv: there is no such file' } }],
  ['prune', { removed: ['a'], kept: 3, bytes: 10, dry_run: false }],
  ['schedule trigger', { schedule: 'n', triggered_at: '2026-11-25T02:00:00.000Z', run_in_progress: null }],
  ['cancel', { run: 'r', state: 'cancelled' }],
])('the published file alone accepts a document of %s, and no other member', (command, document) => {
  const schema = asPublished(command);
  expect(schema.safeParse(document).error).toBeUndefined();
  expect(schema.safeParse({ ...document, other: 1 }).success).toBe(false);
});
