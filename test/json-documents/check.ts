import { z } from 'zod';
import { descriptionOf, documentsOf, published } from './published.ts';

/** Makes a command print text in place of documents. */
const forPeople = ['-h', '--help', '-V', '--version', 'help'];

interface Known {
  readonly description: string;
  readonly schema: z.ZodType;
}

const knownOf = new Map<string, readonly Known[]>();

/**
 * Compares what a command has printed with the published schemas of its documents. A last line that is not complete is left out:
 * its process was killed.
 *
 * @param args of the command
 * @throws an error that names what is wrong with a document.
 */
export function checkDocuments(args: readonly string[], stdout: string): void {
  if (!args.includes('--json') || forPeople.some((word) => args.includes(word))) return;
  for (const line of stdout.split('\n').slice(0, -1)) checkDocument(args, JSON.parse(line));
}

function checkDocument(args: readonly string[], document: unknown): void {
  const problems = known(commandIn(args)).map(({ description, schema }) => {
    const { error } = schema.safeParse(document);
    return error && `- not ${description}:\n${z.prettifyError(error)}`;
  });
  if (problems.includes(undefined)) return;
  const shown = JSON.stringify(document, undefined, 2);
  throw new Error(
    `cqbatch ${args.join(' ')} printed a document without a schema:\n${shown}\n${problems.join('\n')}`,
  );
}

/** The name of the command: `schedule add`. */
function commandIn(args: readonly string[]): string {
  const [name = '', below] = args.filter((arg) => !arg.startsWith('-'));
  return documentsOf(name).length === 0 ? `${name} ${below}` : name;
}

/** The documents of a command; of one that there is not, why it failed. */
function known(command: string): readonly Known[] {
  const documents = documentsOf(command);
  const found =
    knownOf.get(command) ??
    (documents.length === 0 ? [{ $ref: '#/$defs/Failure' }] : documents).map((document) => ({
      description: descriptionOf(document),
      schema: z.fromJSONSchema({ ...published, ...document }),
    }));
  knownOf.set(command, found);
  return found;
}
