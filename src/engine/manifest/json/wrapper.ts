import { isJsonObject } from '../../../base/text/json.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import { excerpt } from '../../rows/problem.ts';
import type { PageFacts } from '../manifest.ts';
import { syntaxMistake, TextMistake } from '../text/mistake.ts';
import { type DocumentOptions, JsonDocument } from './document.ts';
import { joiningCommand, pageFactsOf, pathsToRows, rowsAtOption } from './page.ts';
import { repeatedName, valueAt } from './piece.ts';

/** What an object around the rows says of all of them: `{ "operation", "defaults", "rows": [ … ] }`. */
export interface WrapperFacts {
  readonly operation?: string;
  /** Default values by field, without null values. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly page?: PageFacts | undefined;
}

/**
 * Whether JSON text that begins with `{` is one object with an array `rows`, or JSON Lines (undefined). Reads the object to its end,
 * because members may come in any order.
 *
 * @param path the user's path to the rows: the text is then not JSON Lines, and no other facts are read
 * @throws TextMistake when it is neither, is not JSON, or has an unknown member
 */
export function readWrapper(
  bytes: Buffer,
  options: Pick<DocumentOptions, 'offset' | 'path'>,
): WrapperFacts | undefined {
  const { path, offset } = options;
  const document = new JsonDocument(bytes, { outer: 'object', ...options });
  for (const _ of document.rows());
  const { hasRows, isOnOneLine, members } = document;
  if (hasRows) return path === undefined ? readFacts(members) : readPage(members);
  if (isOnOneLine && path === undefined) return undefined;
  const arrays = members.flatMap(pathsInMember);
  if (document.isFollowed && path === undefined && arrays.length < 2) {
    const [only] = arrays;
    const command = joiningCommand(only === undefined ? 'rows' : only.split('.'));
    throw syntaxMistake(offset, `another object follows this one; make one array of all: ${command}`);
  }
  throw syntaxMistake(offset, lackOfRows(arrays, path));
}

type Member = JsonDocument['members'][number];

function pathsInMember({ key, value, kind, depth }: Member): readonly string[] {
  const name = String(valueAt(key.text, key.offset));
  if (depth > 0 || kind === 'scalar') return [];
  return kind === 'array' ? [name] : pathsToRows({ [name]: valueAt(value.text, value.offset) });
}

function readPage(members: readonly Member[]): WrapperFacts {
  const scalars = members.filter(({ kind }) => kind === 'scalar');
  return {
    page: pageFactsOf(
      scalars.map(
        ({ key, value }) =>
          [key, value].map(({ text, offset }) => valueAt(text, offset)) as [string, unknown],
      ),
    ),
  };
}

function lackOfRows(arrays: readonly string[], path: readonly string[] | undefined): string {
  const [only, ...others] = arrays.map((name) => excerpt(name));
  if (path !== undefined) {
    const hint = only === undefined ? '' : `; its arrays are ${[only, ...others].join(', ')}`;
    return `--rows-at "${excerpt(path.join('.'))}": this object has no array there${hint}`;
  }
  const lack = 'this object has no array "rows"';
  if (only !== undefined && others.length === 0) {
    return `${lack}; if the rows are in "${only}", pass ${rowsAtOption(only)}`;
  }
  const choice =
    only === undefined ? '' : `; choose one of its arrays with --rows-at: ${[only, ...others].join(', ')}`;
  return `${lack}${choice}; write [ rows ], { "rows": [ rows ] }, or one object on each line (JSON Lines)`;
}

function readFacts(members: JsonDocument['members']): WrapperFacts {
  const facts: { -readonly [Name in keyof WrapperFacts]: WrapperFacts[Name] } = {};
  for (const { key, value: piece } of members) {
    const { offset } = piece;
    const name = String(valueAt(key.text, key.offset));
    if (name === 'rows' || Object.hasOwn(facts, name)) {
      throw new TextMistake('MANIFEST_REPEATED_NAME', offset, repeatedName(name));
    }
    if (name !== 'operation' && name !== 'defaults') {
      const problem = `unknown member "${excerpt(name)}"; use operation, defaults and rows only, or pass ${rowsAtOption('rows')} to ignore other members`;
      throw syntaxMistake(offset, problem);
    }
    const value = valueAt(piece.text, offset);
    if (name === 'defaults') facts.defaults = readDefaultValues(value, offset);
    else if (typeof value === 'string') facts.operation = value;
    else throw syntaxMistake(offset, '"operation" must be the name of an operation');
  }
  return facts;
}

function readDefaultValues(value: unknown, offset: number): NonNullable<WrapperFacts['defaults']> {
  if (!isJsonObject(value))
    throw syntaxMistake(offset, '"defaults" must be an object with a value for each field');
  const defaults = new Map<string, unknown>();
  for (const [key, each] of Object.entries(value)) {
    const field = fieldNameOf(key);
    if (defaults.has(field)) {
      throw syntaxMistake(offset, `"defaults" has two values for ${excerpt(field)}; keep one of them`);
    }
    if (each !== null) defaults.set(field, each);
  }
  return Object.fromEntries(defaults);
}
