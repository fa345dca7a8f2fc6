import type { z } from 'zod';
import { errorText, usageError } from '../../base/errors/errors.ts';
import { type FailureCode, isReservedCode } from '../../domain/codes.ts';
import type { ApiRequest, Auth } from '../api/request.ts';
import { requireValid } from './definition-rules.ts';
import { entryListOf, type ListDefinition, type OperationList } from './list-definition.ts';
import { type RequestDefinition, requestOf, withKey, withoutSecret } from './request-definition.ts';
import {
  type Field,
  type FieldDefinitions,
  fieldsOf,
  type Row,
  type RowOf,
  rowReader,
  rowSchemaOf,
} from './row-fields.ts';

/**
 * One kind of API call. An operation knows rows, requests and answers, but not queues or files. Code that needs operations receives them:
 * there is no registry.
 */
export interface OperationDefinition<
  Fields extends FieldDefinitions,
  Value,
  Name extends string = string,
  Column extends string = string,
  Entry = Readonly<Record<string, unknown>>,
> {
  /** The name of the operation: verb and noun in kebab-case, for manifests and `--operation`. */
  readonly name: Name;
  /** What a row acts on, in one short word for messages: `evaluation`. */
  readonly thing: string;
  /** The state of the thing after success, in one word for the report: `restored`. Default: `succeeded`. */
  readonly done?: string;
  /** What the operation does, in one line for `--help` and the plan. */
  readonly summary: string;
  /** The fields of a row: columns of the manifest, by their names in the API (snake_case), in the order of help. */
  readonly fields: Fields;
  /** The required field that identifies the subject of a row. */
  readonly subject: RequiredOf<Fields>;
  /** Checks valid fields together. Returns the problem of the row, or undefined. */
  readonly check?: (row: RowOf<Fields>) => string | undefined;
  /** Makes the request of a row. The same row always gives the same request. */
  readonly request: (row: RowOf<Fields>) => RequestDefinition;
  /** Reads the body of a 2xx answer (untrusted parsed JSON): compares it with the subject of the request, and finds refusals in it. */
  readonly interpret: (body: unknown, subject: string) => Interpretation<Value>;
  /** Columns of the report, by name without the leading `_`: the text for a value that `interpret` has returned. */
  readonly columns: CellsOf<Value> & Readonly<Record<Column, unknown>>;
  /** Whether repeating a row is harmless. If not, an attempt that may have been processed is not repeated: its row fails, unclear. */
  readonly repeatable: boolean;
  /**
   * The key of calls, for an API that processes calls with one `Idempotency-Key` once (draft-ietf-httpapi-idempotency-key-header). All
   * calls of a row have the same key, the operation must be repeatable, and an answered row is not unclear. `true`: a UUID in quotes, made
   * from run and row; a retry or later run keeps the key of a row that may have been processed. A function makes the key from the row, sent
   * as it is. Default: none.
   */
  readonly idempotencyKey?: boolean | ((row: RowOf<Fields>) => string);
  /**
   * How calls name their caller: `bearer`, `basic` (the token is `user:password`), `none`, or `{ header: 'X-Api-Key' }`, whose value is the
   * token. The token comes from its usual source, and is shown nowhere. Default: `bearer`.
   */
  readonly auth?: Auth;
  /** Whether the API may reset a field that a row leaves out, as PUT does. Such rows then need the user's consent. Default: false. */
  readonly mayReset?: boolean;
  /** The API's name of the permission that the user of the token needs; a refusal with PERMISSION_DENIED names it. */
  readonly permission?: string;
  /**
   * Whether a refusal means that the change was already made; after an unclear attempt, the row then succeeds. `code` is the failure's
   * canonical code (`FAILED_PRECONDITION`, …). Default: never.
   */
  readonly meansAlreadyApplied?: (refusal: Refusal) => boolean;
  /**
   * Whether a refusal means that the row is done, even if none of its attempts did it: a 404 to a DELETE. The row then succeeds. Default:
   * never.
   */
  readonly meansDone?: (refusal: Refusal) => boolean;
  /** How the API lists the entries, for `cqbatch export` and `cqbatch check`. Default: the API can't list them. */
  readonly list?: ListDefinition<keyof Fields & string, Entry>;
}

/** The cells of a value, by column. Undefined leaves the cell empty. */
type CellsOf<Value> = Readonly<
  Record<string, (value: Value) => string | bigint | number | boolean | undefined>
>;

type RequiredOf<Fields extends FieldDefinitions> = {
  [Name in keyof Fields]: Fields[Name]['required'] extends true ? Name : never;
}[keyof Fields] &
  string;

/** The code and message of a refusing service. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The value of an answer, or why the answer does not fit the request. */
export type Interpretation<Value> = { readonly ok: true; readonly value: Value } | Misfit;

interface Misfit {
  readonly ok: false;
  /**
   * The code of the refusal. A canonical code (`UNAVAILABLE`, `NOT_FOUND`, …) counts as if the API had answered with its HTTP status: it is
   * repeated, slows the run, or is asked of `meansDone`. Any other code, also of your own, fails the row.
   */
  readonly code: FailureCode | (string & {});
  readonly message: string;
  /** Whether the API may have made a change. Default: as the canonical code says; true for any other code. */
  readonly unclear?: boolean;
}

export type AnswerCheck = { readonly ok: true; readonly columns: Readonly<Record<string, string>> } | Misfit;

/** An operation, as `defineOperation` makes it. `Name` and `Column` type the rows of `results`. */
export interface Operation<Name extends string = string, Column extends string = string> {
  readonly name: Name;
  readonly thing: string;
  readonly done?: string;
  readonly summary: string;
  readonly fields: readonly Field[];
  readonly subject: string;
  /** Validates and normalizes a row: field name to text (CSV) or JSON value. Omitted fields are absent. */
  readonly schema: z.ZodType<Row>;
  readonly request: (row: Row) => ApiRequest;
  /** The names of the columns that `check` fills, without their leading `_`. */
  readonly columns: readonly Column[];
  readonly check: (subject: string, body: unknown) => AnswerCheck;
  readonly repeatable: boolean;
  /** What makes the `Idempotency-Key` of a row: with `by row`, the header is in the request. */
  readonly key?: 'by run' | 'by row';
  readonly auth?: Auth;
  readonly mayReset?: boolean;
  readonly permission?: string;
  readonly meansAlreadyApplied: (refusal: Refusal) => boolean;
  readonly meansDone: (refusal: Refusal) => boolean;
  readonly list?: OperationList;
  /** The SHA-256 of the user's module that defines the operation, in hexadecimal. */
  readonly module?: string;
}

/**
 * Defines an operation, typed by its fields and its answers.
 *
 * @throws a usage error `OPERATION_INVALID` that names the operation and the invalid member
 */
export function defineOperation<
  const Fields extends FieldDefinitions,
  Value,
  const Name extends string,
  Column extends string,
  Entry = Readonly<Record<string, unknown>>,
>(definition: OperationDefinition<Fields, Value, Name, Column, Entry>): Operation<Name, Column> {
  requireValid(definition);
  const { name, fields, subject, check, request, interpret, columns, auth, idempotencyKey } = definition;
  const {
    meansAlreadyApplied = () => false,
    meansDone = () => false,
    permission,
    list,
    ...rest
  } = definition;
  const callMember = memberCaller(name);
  const read = rowReader(fields) as (row: Row) => RowOf<Fields>;
  const cells = Object.entries(columns) as [Column, CellsOf<Value>[string]][];
  return {
    ...rest,
    ...(permission !== undefined && { permission }),
    ...(list !== undefined && { list: entryListOf(list, { subject, auth, permission, callMember }) }),
    fields: fieldsOf(fields),
    schema: rowSchemaOf(
      fields,
      subject,
      check && ((row) => callMember('check', () => check(read(row)), requireProblemText)),
    ),
    request(row) {
      const made = callMember(
        'request',
        () => request(read(row)),
        (made) => withoutSecret(requestOf(made), auth),
      );
      if (typeof idempotencyKey !== 'function') return made;
      return callMember(
        'idempotencyKey',
        () => idempotencyKey(read(row)),
        (key) => withKey(made, key),
      );
    },
    ...(idempotencyKey && { key: idempotencyKey === true ? 'by run' : 'by row' }),
    columns: cells.map(([column]) => column),
    check(id, body) {
      const reading = callMember('interpret', () => interpret(body, id), requireInterpretation);
      if (!reading.ok) return reading;
      const texts = cells.map(([column, cell]) => [
        column,
        callMember(
          `columns.${column}`,
          () => cell(reading.value),
          (text) => String(text ?? ''),
        ),
      ]);
      return { ok: true, columns: Object.fromEntries(texts) };
    },
    meansAlreadyApplied: (refusal) =>
      callMember('meansAlreadyApplied', () => meansAlreadyApplied(refusal), Boolean),
    meansDone: (refusal) => callMember('meansDone', () => meansDone(refusal), Boolean),
  };
}

/**
 * Members of an operation are code of its author and may fail.
 *
 * @param read checks and converts what the member returns
 * @throws a usage error `OPERATION_FAILED` that names operation and member
 */
function memberCaller(operation: string) {
  return function callMember<Value, Read>(
    member: string,
    work: () => Value,
    read: (value: Value) => Read,
  ): Read {
    try {
      const value = work();
      if (!(value instanceof Promise)) return read(value);
      // A promise that a member returned is too late to matter.
      value.catch(() => {});
      throw new TypeError('must not be async');
    } catch (error) {
      throw usageError('OPERATION_FAILED', `${operation}: ${member}: ${errorText(error)}`, error);
    }
  };
}

/** The message of an operation's error, which begins with the name of the operation. */
export function operationFailure(operation: string, error: unknown): string {
  const text = errorText(error);
  return text.startsWith(`${operation}: `) ? text : `${operation}: ${text}`;
}

/** The message of a refusal, with the missing permission as far as known. */
export function refusalText(
  { permission }: Pick<Operation, 'permission'>,
  { code, message }: Refusal,
): string {
  if (code !== 'PERMISSION_DENIED' || permission === undefined || message.includes(permission))
    return message;
  return `${message} (most likely ${permission} is missing)`;
}

function requireProblemText(problem: string | undefined): string | undefined {
  if (problem === undefined || typeof problem === 'string') return problem;
  throw new TypeError('must return the problem as text, or undefined');
}

function requireInterpretation<Value>(reading: Interpretation<Value>): Interpretation<Value> {
  if (reading.ok === true) return reading;
  const isMisfit = reading.ok === false && typeof reading.code === 'string';
  if (!isMisfit || typeof reading.message !== 'string')
    throw new TypeError('must return { ok: true, value } or { ok: false, code, message }');
  if (!/^[A-Z][A-Z0-9_]{0,49}$/.test(reading.code) || isReservedCode(reading.code))
    throw new TypeError(
      `must return a code such as NOT_FOUND or QUOTA_USED, not ${JSON.stringify(reading.code)}`,
    );
  return reading;
}

export function fieldsWithOption(
  operations: readonly Operation[],
): readonly { readonly name: string; readonly option: string }[] {
  return operations.flatMap(({ fields }) =>
    fields.flatMap(({ name, option }) => (option === undefined ? [] : [{ name, option }])),
  );
}

export function findOperation(operations: readonly Operation[], name: string): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}
