import type { Operation } from '../../../jobs/operation.ts';
import { excerpt } from '../excerpt.ts';
import { findByLooseName, nameList } from '../operation-choice.ts';
import type { RowProblem } from '../row.ts';

/** The operation of one row, or why there is none; a known operation that must not be used is told as well. */
export type RowOperation =
  | { readonly ok: true; readonly operation: Operation }
  | { readonly ok: false; readonly operation?: Operation; readonly problem: RowProblem };

export interface OperationRules {
  readonly operations: readonly Operation[];
  /** What `--operation` says: rows must not say another. */
  readonly required: Operation | undefined;
  /** For rows that do not say it. */
  readonly fallback: Operation | undefined;
}

/** Finds the operation of a row by what its column `operation` says, if it has one. */
export function findRowOperation(said: unknown, rules: OperationRules): RowOperation {
  const { operations, required, fallback } = rules;
  if (said === undefined || said === '') {
    if (fallback !== undefined) return { ok: true, operation: fallback };
    return { ok: false, problem: { problem: `is missing; name one of ${nameList(operations)}` } };
  }
  const value = excerpt(said);
  const operation = typeof said === 'string' ? findByLooseName(said, operations) : undefined;
  if (operation === undefined) {
    return { ok: false, problem: { problem: `is unknown; name one of ${nameList(operations)}`, value } };
  }
  if (required !== undefined && operation !== required) {
    return {
      ok: false,
      operation,
      problem: { problem: `differs from --operation ${required.name}`, value },
    };
  }
  return { ok: true, operation };
}
