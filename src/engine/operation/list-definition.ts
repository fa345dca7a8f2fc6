import { isJsonObject, stringifyJson } from '../../base/text/json.ts';
import type { ApiRequest, Auth } from '../api/request.ts';
import { type RequestDefinition, requestOf, withoutSecret } from './request-definition.ts';
import type { Row } from './row-fields.ts';

/** How the API lists the entries on which an operation acts. */
export interface ListDefinition<FieldName extends string, Entry> {
  /** The name of what is listed, in lowercase words with hyphens, for `cqbatch export`: `deleted-evaluations`. */
  readonly name: string;
  /** Makes the request for a page, by the token that the previous answer named; without a token for the first page. */
  readonly request: (token: string | undefined) => RequestDefinition;
  /** The member of an answer that has the entries, in snake_case. */
  readonly entries: string;
  /** The member of an answer that has the token of the next page, in snake_case. Default: one answer has all entries. */
  readonly next?: string;
  /** Reads an entry (untrusted parsed JSON with exact numbers). Default: the entry as it is. */
  readonly read?: (entry: unknown) => Entry | undefined;
  /** The fields of the operation that an entry has, with the subject: the members of these names, in snake_case or lowerCamelCase. */
  readonly fields: readonly FieldName[];
  /** Columns besides the fields, which help people choose, by name: the text for an entry. */
  readonly columns: Readonly<
    Record<string, (entry: Entry) => string | bigint | number | boolean | undefined>
  >;
  /** Why the operation can't act on an entry, in a few words: `is not recoverable`. Default: it can act on each entry. */
  readonly unfit?: (entry: Entry) => string | undefined;
  /** What is true of an entry that is not listed, in a few words. Default: `is not among the <name> that the service lists`. */
  readonly absent?: string;
  /**
   * Fields that the service sets itself, such as the time of the last change: a comparison ignores them, and a whole entry has them as they
   * were listed. Default: none.
   */
  readonly computed?: readonly FieldName[];
  /** The API's name of the permission to list, if it is another one than that of the operation. */
  readonly permission?: string;
  /**
   * How `cqbatch check` sees entries on which the operation has acted, when an entry leaves the list by that, as a restored one leaves the
   * deleted ones. Default: an entry stays in the list, and its fields show what the operation did.
   */
  readonly done?: DoneDefinition;
}

/** How the API shows the entries on which an operation has acted. */
export interface DoneDefinition {
  /** The name of what is listed, in lowercase words with hyphens: `evaluations`. */
  readonly name: string;
  /** Makes the request for a page of the entries on which an operation has acted. Answers are like those of the list. */
  readonly request: (token: string | undefined) => RequestDefinition;
  /** Makes the request for one entry, when there are too many pages. */
  readonly one: (id: string) => RequestDefinition;
  /** Says in a few words what the answer for one entry shows, if it is not that the operation has acted. `body` is untrusted JSON. */
  readonly differs: (body: unknown, id: string) => string | undefined;
}

/** A list, as `defineOperation` makes it. */
export interface OperationList {
  readonly name: string;
  readonly request: (token: string | undefined) => ApiRequest;
  readonly entries: string;
  readonly next?: string;
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  readonly absent: string;
  readonly computed: readonly string[];
  readonly permission?: string;
  readonly done?: DoneList;
  /** Reads an entry of an answer. Undefined for an entry without a readable subject. */
  readonly read: (entry: unknown) => ListedEntry | undefined;
}

/** Why `cqbatch check` can't see whether an operation with this list has acted on an entry. Undefined if the check can see it. */
export function whyUncheckable(list: Pick<OperationList, 'fields' | 'done'> | undefined): string | undefined {
  if (list === undefined) return 'the operation has no list';
  return list.done === undefined && list.fields.length === 1
    ? 'its list shows neither their fields nor which of them are done'
    : undefined;
}

/** The entries on which an operation has acted. */
export interface DoneList {
  readonly list: OperationList;
  readonly one: (id: string) => ApiRequest;
  readonly differs: DoneDefinition['differs'];
}

export interface ListedEntry {
  /** The identifier of the entry: the value of the operation's subject. */
  readonly id: string;
  /** The values of the operation's fields. A field that the service leaves out, or that is empty, is absent. */
  readonly fields: Row;
  /** The texts of the columns besides the fields, without empty ones. */
  readonly columns: Row;
  /** Why the operation can't act on the entry. */
  readonly unfit?: string;
}

/** Calls a member of an operation. The member is code of the operation's author, so it may fail. */
type CallMember = <Value, Read>(member: string, work: () => Value, read: (value: Value) => Read) => Read;

export interface ListOwner {
  readonly subject: string;
  readonly auth: Auth | undefined;
  readonly permission: string | undefined;
  readonly callMember: CallMember;
}

export function entryListOf<FieldName extends string, Entry>(
  definition: ListDefinition<FieldName, Entry>,
  { subject, auth, permission: ofOperation, callMember }: ListOwner,
): OperationList {
  const { name, entries, next, read, fields, columns, unfit, done } = definition;
  const { permission = ofOperation, computed = [] } = definition;
  const { absent = `is not among the ${listedWords(definition)} that the service lists` } = definition;
  const cells = Object.entries(columns);
  const spelledFields = fields.map((field) => [field, spellingsOf(field)] as const);
  const identity = (entry: unknown): Entry => entry as Entry;
  const requestMaker =
    <Values extends readonly unknown[]>(member: string, request: (...values: Values) => RequestDefinition) =>
    (...values: Values): ApiRequest =>
      callMember(
        member,
        () => request(...values),
        (made) => ({ ...withoutSecret(requestOf(made), auth), ...(auth !== undefined && { auth }) }),
      );
  const list: OperationList = {
    name,
    entries,
    fields,
    columns: Object.keys(columns),
    absent,
    computed,
    ...(next !== undefined && { next }),
    ...(permission !== undefined && { permission }),
    request: requestMaker('list.request', definition.request),
    read(entry) {
      if (!isJsonObject(entry)) return undefined;
      const value = callMember('list.read', () => (read ?? identity)(entry), presentObject);
      if (value === undefined) return undefined;
      const members = value as Readonly<Record<string, unknown>>;
      const own = presentText(
        spelledFields.map(
          ([field, [snake, camel]]) => [field, fieldText(members[snake] ?? members[camel])] as const,
        ),
      );
      const id = own[subject];
      if (id === undefined) return undefined;
      const texts = cells.map(
        ([column, cell]) =>
          [column, callMember(`list.columns.${column}`, () => cell(value), fieldText)] as const,
      );
      const reason = unfit && callMember('list.unfit', () => unfit(value), reasonIn);
      return {
        id,
        fields: own,
        columns: presentText(texts),
        ...(reason !== undefined && { unfit: reason }),
      };
    },
  };
  if (done === undefined) return list;
  return {
    ...list,
    done: {
      list: { ...list, name: done.name, request: requestMaker('list.done.request', done.request) },
      one: requestMaker('list.done.one', done.one),
      differs: (body, id) => callMember('list.done.differs', () => done.differs(body, id), reasonIn),
    },
  };
}

/** What a list has, in words: `deleted evaluations`. */
export function listedWords({ name }: Pick<OperationList, 'name'>): string {
  return name.replaceAll('-', ' ');
}

/** The spellings of a member's name in services: snake_case and lowerCamelCase. */
export function spellingsOf(name: string): readonly [snake: string, camel: string] {
  return [name, name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())];
}

function presentText(texts: readonly (readonly [name: string, text: string])[]): Row {
  return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

function fieldText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return isJsonObject(value) || Array.isArray(value) ? stringifyJson(value) : String(value);
}

function presentObject<Entry>(value: Entry | undefined): Entry | undefined {
  if (value === undefined || isJsonObject(value)) return value;
  throw new TypeError('must return an object, or undefined');
}

function reasonIn(reason: string | undefined): string | undefined {
  if (reason === undefined || (typeof reason === 'string' && reason !== '')) return reason;
  throw new TypeError('must return the reason as text, or undefined');
}
