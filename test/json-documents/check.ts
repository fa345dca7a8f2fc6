import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { documentsOf } from './documents.ts';
import { failure } from './parts.ts';

/** Makes a command print text in place of documents. */
const forPeople = ['-h', '--help', '-V', '--version', 'help'];

/**
 * Compares what a command has printed with the schemas of its documents. A last line that is not complete is left out: its process
 * was killed.
 *
 * @param args of the command
 * @throws an error that names what is wrong with a document.
 */
export function checkDocuments(args: readonly string[], stdout: string): void {
  if (!args.includes('--json') || forPeople.some((word) => args.includes(word))) return;
  for (const line of stdout.split('\n').slice(0, -1)) checkDocument(args, JSON.parse(line));
}

function checkDocument(args: readonly string[], document: unknown): void {
  const command = commandIn(args);
  const schemas = [...(documentsOf[command] ?? []), failure];
  const problems = schemas.map((schema) => problemIn(document, schema));
  if (problems.includes(undefined)) return;
  const texts = problems.map((problem, index) => `- not ${schemas[index]?.description}:\n${problem}`);
  const shown = JSON.stringify(document, undefined, 2);
  throw new Error(
    `cqbatch ${args.join(' ')} printed a document without a schema:\n${shown}\n${texts.join('\n')}`,
  );
}

/** The name of the command: `schedule add`. */
function commandIn(args: readonly string[]): string {
  const [name = '', below] = args.filter((arg) => !arg.startsWith('-'));
  return documentsOf[name] === undefined ? `${name} ${below}` : name;
}

function problemIn(document: unknown, schema: z.ZodType): string | undefined {
  const { data, error } = schema.safeParse(document);
  if (error !== undefined) return z.prettifyError(error);
  // Schemas of files also read what other versions have written.
  return isDeepStrictEqual(data, document) ? undefined : 'it has a member that the schema does not name';
}
