import { excerpt } from '../excerpt.ts';
import { TextMistake } from '../text/mistake.ts';
import { parsePiece } from './piece.ts';
import { type JsonPiece, JsonWalker } from './walker.ts';

/** What `{ "operation", "defaults", "rows": [ … ] }` says for all rows. */
export interface WrapperFacts {
  readonly operation?: string;
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** Members kept while walking; an object with rows may have three, so more are only counted as unknown. */
const keptMembers = 4;

/**
 * Looks at JSON text that begins with `{`: one object with an array of `rows`, or the first line of JSON Lines? The
 * members may come in any order, so the object is walked over to its end.
 *
 * @returns undefined for JSON Lines: the first object stands on one line and has no array of rows.
 * @throws TextMistake when it is neither, is not JSON, or says something unknown.
 */
export async function readWrapper(
  chunks: AsyncIterable<Buffer>,
  options: { readonly offset: number; readonly limit: number },
): Promise<WrapperFacts | undefined> {
  const walker = new JsonWalker({ layout: 'object', skipElements: true, ...options });
  const members: JsonPiece[] = [];
  try {
    for await (const chunk of chunks) {
      for (const member of walker.push(chunk)) if (members.length < keptMembers) members.push(member);
      if (walker.isDone && !walker.hasRows) break;
    }
    walker.end();
  } catch (error) {
    const isFollowedByLines = walker.isDone && !walker.hasRows;
    if (!isFollowedByLines) throw error;
  }
  if (walker.hasRows) return readFacts(members);
  if (walker.isOnOneLine) return undefined;
  throw new TextMistake(
    'MANIFEST_SYNTAX',
    options.offset,
    'this object has no array "rows"; write [ rows ], { "rows": [ rows ] }, or one object on each line (JSON Lines)',
  );
}

function readFacts(members: readonly JsonPiece[]): WrapperFacts {
  const values = new Map<string, unknown>();
  for (const { key = '', text, offset } of members) {
    const value = parse(text, offset);
    const name = parse(key, offset);
    if (name === 'operation') checkOperation(value, offset);
    else if (name === 'defaults') checkDefaults(value, offset);
    else
      throw mistake(offset, `unknown member ${excerpt(key)}; known are "operation", "defaults" and "rows"`);
    if (values.has(name)) throw mistake(offset, `"${name}" appears twice`);
    values.set(name, value);
  }
  const operation = values.get('operation') as string | undefined;
  const defaults = values.get('defaults') as Readonly<Record<string, unknown>> | undefined;
  return { ...(operation !== undefined && { operation }), ...(defaults !== undefined && { defaults }) };
}

function checkOperation(value: unknown, offset: number): void {
  if (typeof value !== 'string') throw mistake(offset, '"operation" must be the name of an operation');
}

function checkDefaults(value: unknown, offset: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw mistake(offset, '"defaults" must be an object with a value for each column');
  }
}

function parse(text: string, offset: number): unknown {
  const parsed = parsePiece(text);
  if (parsed.ok) return parsed.value;
  throw mistake(offset + Buffer.byteLength(text.slice(0, parsed.index)), parsed.problem);
}

function mistake(offset: number, problem: string): TextMistake {
  return new TextMistake('MANIFEST_SYNTAX', offset, problem);
}
