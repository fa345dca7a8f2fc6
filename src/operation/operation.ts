import type { z } from 'zod';
import type { ApiRequest } from '../api/request.ts';
import type { FailureCode } from '../codes.ts';

/**
 * The template of an operation, which `defineOperation` types. Operations are declarative: they know rows, requests and
 * answers, nothing of queues or files. All that needs some is given them: nothing looks them up.
 */
export interface Operation<Row = unknown> {
  /** What manifests and `--operation` say: kebab-case verb and noun. */
  readonly name: string;
  /** What a row acts on, in one small word, as the service's messages call it: `evaluation`. */
  readonly thing: string;
  /** One line for `--help` and the plan. */
  readonly summary: string;
  /** The manifest columns that it reads, in the order of the interface document. */
  readonly fields: readonly Field[];
  /**
   * Checks and normalises one row, given as field name to text (CSV) or JSON value. Fields that the row leaves out
   * are absent. Output feeds the functions below.
   */
  readonly schema: z.ZodType<Row>;
  /**
   * Whether rows may say what the fields that they leave out or send were before (`old_title`, …), so that a run can be
   * undone by sending that. Else it can be undone by hand only.
   */
  readonly takesOldValues: boolean;
  /** Identifier of the thing that the row acts on, in decimal: one of the row's fields. */
  readonly subject: (row: Row) => string;
  /** The HTTP request for the row; the same row always gives the same request. */
  readonly request: (row: Row) => ApiRequest;
  /** Names of the report columns that `check` fills, without their leading `_`. */
  readonly columns: readonly string[];
  /** Checks the body of a 2xx answer against the request's subject. `body` is parsed JSON, never trusted. */
  readonly check: (subject: string, body: unknown) => AnswerCheck;
  /**
   * Whether this refusal means that the change has been made already, so that after an unclear attempt the row has
   * most likely succeeded. `code` is the failure's canonical code (`FAILED_PRECONDITION`, …).
   */
  readonly meansAlreadyApplied: (failure: { readonly code: string; readonly message: string }) => boolean;
}

/** A manifest column that an operation reads. */
export interface Field {
  /** Name on the wire: snake_case. Headers match it in any case, with spaces, hyphens or camelCase. */
  readonly name: string;
  readonly type: 'integer' | 'string';
  /** A field that is not may be left out; the service might reset it then (interface document, section 4.2). */
  readonly required: boolean;
  readonly description: string;
}

/** What an answer says: the report columns, or why it is not the answer to this request. */
export type AnswerCheck =
  | { readonly ok: true; readonly columns: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string };

/** Types an operation by its row schema. */
export function defineOperation<Row>(operation: Operation<Row>): Operation<Row> {
  return operation;
}

/** The operation of that name, if it is one of these. */
export function findOperation(operations: readonly Operation[], name: string): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}
