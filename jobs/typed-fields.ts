/**
 * An operation's list of fields, as a program writes and reads them: names in lowerCamelCase, integers in any exact form, and values in
 * JSON. The operations of the service make their requests, the inputs of the typed client and the entries in answers of it.
 */

import { type Int64Input, int64Json, requireInt64 } from '../src/engine/api/int64.ts';
import {
  entityId,
  integer,
  type OpenEnum,
  object,
  type Parts,
  type Read,
  text,
  time,
} from '../src/engine/api/reading.ts';
import type { FieldDefinition, RowOf } from '../src/engine/operation/row-fields.ts';

/** A field with a number or a text: the service's entries have no lists or objects. */
interface PlainField extends FieldDefinition {
  readonly type: 'integer' | 'identifier' | 'text';
}

type PlainFields = Readonly<Record<string, PlainField>>;

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type RequiredName<Fields, Name extends keyof Fields> = Fields[Name] extends { readonly required: true }
  ? Name
  : never;

/** What a program gives: the fields that an operation requires, and any of the others. */
export type InputOf<Fields> = {
  readonly [Name in keyof Fields as CamelCase<RequiredName<Fields, Name>>]: InputValue<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as CamelCase<Exclude<Name, RequiredName<Fields, Name>>>]?:
    | InputValue<Fields[Name]>
    | undefined;
};

type InputValue<Definition> = Definition extends { readonly type: 'integer' }
  ? Int64Input
  : TextOf<Definition>;

type TextOf<Definition> = Definition extends { readonly expects: readonly (infer Known extends string)[] }
  ? OpenEnum<Known>
  : string;

/** An entry in an answer, with the fields of an operation. */
export type EntryOf<Fields> = Parts<{
  readonly [Name in keyof Fields as CamelCase<Name>]: Read<EntryValue<Fields[Name]>>;
}>;

type EntryValue<Definition> = Definition extends { readonly type: 'integer' } ? bigint : TextOf<Definition>;

/**
 * The row for an input.
 *
 * @throws RangeError when an integer is not exact or out of its range, a text is not a string, a required field is missing, or the input
 * has another field
 */
export function rowOfInput<Fields extends PlainFields>(fields: Fields, input: object): RowOf<Fields> {
  const names = new Map(Object.keys(fields).map((name) => [camelCase(name), name]));
  for (const given of Object.keys(input)) {
    if (!names.has(given))
      throw new RangeError(`${given} is not a field: use ${[...names.keys()].join(', ')}`);
  }
  const values = input as Readonly<Record<string, Int64Input | undefined>>;
  const row = [...names].flatMap(([given, name]) => {
    const { type, min = 0, required = false } = fields[name] as PlainField;
    const value = values[given];
    if (value === undefined && !required) return [];
    if (type === 'integer') return [[name, requireInt64(given, value as Int64Input, min)]];
    if (typeof value !== 'string') throw new RangeError(`${given} must be text`);
    return [[name, value]];
  });
  return Object.fromEntries(row) as RowOf<Fields>;
}

/** Returns a function that writes the values of a row as JSON, in the order of the fields. The same row always gives the same text. */
export function objectWriter(fields: PlainFields): (row: object) => string {
  const members = Object.entries(fields).map(([name, { type }]) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    write: type === 'integer' ? int64Json : (value: string) => JSON.stringify(value),
  }));
  return (row) => {
    const values = row as Readonly<Record<string, string | undefined>>;
    let text = '';
    // This is a loop instead of a chain of functions, because it runs for each row.
    for (const { name, key, write } of members) {
      const value = values[name];
      if (value !== undefined) text += `${text === '' ? '' : ','}${key}${write(value)}`;
    }
    return `{${text}}`;
  };
}

export function entryReader<Fields extends PlainFields>(fields: Fields): Read<EntryOf<Fields>> {
  const readers = Object.entries(fields).map(([name, field]) => [camelCase(name), readerOf(field)] as const);
  return object(Object.fromEntries(readers)) as Read<EntryOf<Fields>>;
}

function readerOf({ type, min, expects }: PlainField): Read<unknown> {
  if (type === 'integer') return min === 1 ? entityId : integer;
  return expects === 'time' ? time : text;
}

function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
