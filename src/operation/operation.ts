import { z } from 'zod';
import type { ApiRequest } from '../api/request.ts';
import type { FailureCode } from '../codes.ts';
import type { Method } from '../domain.ts';
import { usageError } from '../errors.ts';
import { stringifyJson } from '../text/json.ts';
import {
  type Field,
  type FieldDefinitions,
  fieldsOf,
  type Row,
  type RowOf,
  rowSchemaOf,
} from './row-fields.ts';

/**
 * The definition of an operation. Operations are declarative: they know rows, requests and answers, but not queues or files.
 * Code that needs operations receives them: there is no registry.
 */
export interface OperationDefinition<
  Fields extends FieldDefinitions,
  Value,
  Name extends string = string,
  Column extends string = string,
> {
  /** For manifests and `--operation`: verb and noun in kebab-case. */
  readonly name: Name;
  /** What a row acts on, in one short word of the service's messages: `evaluation`. */
  readonly thing: string;
  /** The state of the thing after success, in one word for the report: `restored`. Default `succeeded`. */
  readonly done?: string;
  /** One line for `--help` and the plan. */
  readonly summary: string;
  /** The columns of the manifest, by their names in the API (snake_case), in the order of help. */
  readonly fields: Fields;
  /** The required field that identifies the subject of a row. */
  readonly subject: RequiredOf<Fields>;
  /** Checks fields that are each valid against each other. Returns the problem, or undefined. */
  readonly check?: (row: RowOf<Fields>) => string | undefined;
  /** The HTTP request for the row; the same row always gives the same request. */
  readonly request: (row: RowOf<Fields>) => RequestDefinition;
  /** Reads the body of a 2xx answer (untrusted parsed JSON) and compares it with the subject of the request. */
  readonly interpret: (body: unknown, subject: string) => Interpretation<Value>;
  /** Columns of the report, without their leading `_`, and how each shows a value. */
  readonly columns: CellsOf<Value> & Readonly<Record<Column, unknown>>;
  /**
   * Whether repeating a row is harmless. If not, an attempt that may have been processed is not repeated: its row fails, and is
   * marked unclear.
   */
  readonly repeatable: boolean;
  /**
   * Whether the API certainly keeps omitted fields, as PATCH does. Default false: omitting a field needs the user's consent.
   */
  readonly keepsOmitted?: boolean;
  /**
   * Whether a refusal means that the change was already made; after an unclear attempt, the row then counts as succeeded.
   * `code` is the failure's canonical code (`FAILED_PRECONDITION`, …). Default: never.
   */
  readonly meansAlreadyApplied?: (refusal: Refusal) => boolean;
}

/** The text of each report column; undefined leaves the cell empty. */
type CellsOf<Value> = Readonly<Record<string, (value: Value) => string | bigint | number | undefined>>;

type RequiredOf<Fields extends FieldDefinitions> = {
  [Name in keyof Fields]: Fields[Name]['required'] extends true ? Name : never;
}[keyof Fields] &
  string;

/** A request as an operation defines it. */
export interface RequestDefinition {
  /** Default POST. */
  readonly method?: Method;
  /** Below the base URL; begins with `/`. Values from a row need `encodeURIComponent`. */
  readonly path: string;
  /** Parameters of the query, encoded by the engine. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** JSON text, sent unchanged, or a value to serialize as JSON, in which a bigint is an exact number. Absent: no body. */
  readonly body?: string | Readonly<Record<string, unknown>>;
}

/** A refusal of the service. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The content of an answer, or why the answer does not fit the request. */
export type Interpretation<Value> = { readonly ok: true; readonly value: Value } | Misfit;

/** Why an answer does not fit its request. */
interface Misfit {
  readonly ok: false;
  readonly code: FailureCode;
  readonly message: string;
}

/** The report columns of an answer, or why the answer does not fit. */
export type AnswerCheck = { readonly ok: true; readonly columns: Readonly<Record<string, string>> } | Misfit;

/** An operation as the engine uses it; `results` types rows by name and columns. */
export interface Operation<Name extends string = string, Column extends string = string> {
  readonly name: Name;
  readonly thing: string;
  readonly done?: string;
  readonly summary: string;
  readonly fields: readonly Field[];
  /** The field that identifies the subject of a row. */
  readonly subject: string;
  /** Validates and normalizes one row: field name to text (CSV) or JSON value. Omitted fields are absent. */
  readonly schema: z.ZodType<Row>;
  readonly request: (row: Row) => ApiRequest;
  /** Report columns that `check` fills, without their leading `_`. */
  readonly columns: readonly Column[];
  readonly check: (subject: string, body: unknown) => AnswerCheck;
  readonly repeatable: boolean;
  readonly keepsOmitted?: boolean;
  readonly meansAlreadyApplied: (refusal: Refusal) => boolean;
}

/**
 * Makes an operation, typed by its fields and its answers.
 *
 * @throws a usage error `OPERATION_INVALID` that names the operation and the invalid member
 */
export function defineOperation<
  const Fields extends FieldDefinitions,
  Value,
  const Name extends string,
  Column extends string,
>(definition: OperationDefinition<Fields, Value, Name, Column>): Operation<Name, Column> {
  requireValid(definition);
  const { name, fields, subject, check, columns, meansAlreadyApplied = () => false } = definition;
  const cells = Object.entries(columns) as [Column, CellsOf<Value>[string]][];
  return {
    ...definition,
    fields: fieldsOf(fields),
    schema: rowSchemaOf(fields, subject, check as ((row: Row) => string | undefined) | undefined),
    request(row) {
      try {
        return requestOf(definition.request(row as RowOf<Fields>));
      } catch (error) {
        const what = `${name}: no request for ${definition.thing} ${row[subject]}: ${(error as Error).message}`;
        throw usageError('OPERATION_FAILED', what, error);
      }
    },
    columns: cells.map(([column]) => column),
    check(id, body) {
      try {
        const reading = definition.interpret(body, id);
        if (!reading.ok) return reading;
        const texts = cells.map(([column, cell]) => [column, String(cell(reading.value) ?? '')]);
        return { ok: true, columns: Object.fromEntries(texts) };
      } catch (error) {
        const message = `the operation can't read the answer: ${(error as Error).message}`;
        return { ok: false, code: 'ANSWER_INCOMPLETE', message };
      }
    },
    meansAlreadyApplied,
  };
}

function requestOf({ method = 'POST', path, query = {}, body = '' }: RequestDefinition): ApiRequest {
  if (!/^\/[!-~]*$/.test(path))
    throw new RangeError(
      `the path ${JSON.stringify(path)} must begin with / and be encoded (encodeURIComponent)`,
    );
  const parameters = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const behind = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
  const text = typeof body === 'string' ? body : stringifyJson(body);
  return { ...(method !== 'POST' && { method }), path: path + behind, body: text };
}

/** The fields that have an option, with the placeholder that help shows. */
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

/** Rules that let manifests, options and reports name an operation and its parts. */

const word = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const aFunction = z.custom((value) => typeof value === 'function', 'must be a function');

/** Names reserved for columns of the manifest. */
const isTaken = (name: string): boolean => name === 'operation' || name.startsWith('old_');

/** Columns of every report, without the leading `_`. */
const reported = [
  ...['row', 'operation', 'outcome', 'code', 'message', 'http_status', 'attempts', 'unclear'],
  ...['started_at', 'finished_at', 'duration_ms'],
];

const fieldSchema = z.strictObject({
  type: z.enum(['integer', 'identifier', 'text']),
  min: z.literal([0, 1]).optional(),
  required: z.boolean().optional(),
  undoable: z.boolean().optional(),
  option: z
    .string()
    .regex(/^<.+>$/, 'must be in angle brackets, such as <id>')
    .optional(),
});

const definitionSchema = z
  .object({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'must be words with hyphens, such as archive-call'),
    thing: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be one lowercase word, such as call'),
    done: z.string().min(1).optional(),
    summary: z.string().min(1),
    fields: z.record(z.string().regex(word, 'must be in snake_case'), fieldSchema),
    subject: z.string(),
    check: aFunction.optional(),
    request: aFunction,
    interpret: aFunction,
    columns: z.record(z.string().regex(word, 'must be in snake_case'), aFunction),
    repeatable: z.boolean(),
    keepsOmitted: z.boolean().optional(),
    meansAlreadyApplied: aFunction.optional(),
  })
  .check(({ value: { fields, subject, columns }, issues }) => {
    const refuse = (path: string[], message: string): void =>
      void issues.push({ code: 'custom', path, message, input: undefined });
    if (fields[subject]?.required !== true) refuse(['subject'], 'must be a field with required: true');
    for (const name of Object.keys(fields).filter(isTaken)) refuse(['fields', name], 'is a reserved name');
    for (const name of Object.keys(columns).filter((column) => reported.includes(column)))
      refuse(['columns', name], 'is a column of every report');
  });

/** @throws a usage error `OPERATION_INVALID` */
function requireValid(definition: { readonly name?: unknown }): void {
  // Compiling the schema, zod's default, takes longer for one use.
  const { error } = definitionSchema.safeParse(definition, { jitless: true });
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const name = typeof definition.name === 'string' ? definition.name : 'an operation';
  throw usageError('OPERATION_INVALID', `${name}: ${issue.path.join('.')}: ${issue.message}`);
}
