import type { Operation } from '../../jobs/operation.ts';
import { usageError } from '../errors.ts';
import { fieldNameOf, operationNameOf } from './column-names.ts';
import { inferOperation } from './prepare/operation-inference.ts';

/** How the operation of the rows is known. */
export type OperationChoice =
  /** A column says it row by row; `name` is for rows that leave it empty. */
  | { readonly source: 'column'; readonly name?: string }
  /** `--operation`, the manifest's own `operation`, or the only one that its columns suit. */
  | { readonly source: 'option' | 'manifest' | 'inferred'; readonly name: string }
  /** Nothing says it, and nothing has to: no row could be read. */
  | { readonly source: 'none'; readonly name?: never };

export interface ChoiceFacts {
  /** What to call the manifest in messages. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Whether any row could be read. */
  readonly readable: boolean;
  /** What the manifest says for all rows. */
  readonly manifestOperation: string | undefined;
  /** What `--operation` says. */
  readonly optionOperation: string | undefined;
  /** Fields that have a value without a column, from `defaults` or `--user-id`. */
  readonly givenFields: ReadonlySet<string>;
  readonly operations: readonly Operation[];
}

/**
 * Decides how the operation of each row is found.
 *
 * @throws CqbatchError (`usage`) when it cannot be told, or is contradictory.
 */
export function chooseOperation(facts: ChoiceFacts): OperationChoice {
  const { name: file, operations } = facts;
  const option = known(facts.optionOperation, operations, (text) =>
    usageError('UNKNOWN_OPERATION', `--operation ${text}: unknown; known are ${nameList(operations)}`),
  );
  const manifest = known(facts.manifestOperation, operations, (text) =>
    usageError(
      'MANIFEST_UNKNOWN_OPERATION',
      `${file}: "operation": "${text}" is unknown; known are ${nameList(operations)}`,
    ),
  );
  if (option !== undefined && manifest !== undefined && option !== manifest) {
    throw usageError(
      'MANIFEST_OPERATION_MISMATCH',
      `${file} says it is for ${manifest}, --operation says ${option}; leave out one of them`,
    );
  }
  const name = option ?? manifest;
  if (facts.columns.some((column) => fieldNameOf(column) === 'operation')) {
    return name === undefined ? { source: 'column' } : { source: 'column', name };
  }
  if (option !== undefined) return { source: 'option', name: option };
  if (manifest !== undefined) return { source: 'manifest', name: manifest };
  // The problem of each row tells more than what could be said of columns that were never found.
  if (!facts.readable && facts.columns.length === 0) return { source: 'none' };
  return { source: 'inferred', name: inferOperation(facts) };
}

/** Names of operations for a message. */
export function nameList(operations: readonly Operation[]): string {
  return operations.map(({ name }) => name).join(', ');
}

/** The operation of that name, which may be written with underscores, blanks or capitals. */
export function findByLooseName(text: string, operations: readonly Operation[]): Operation | undefined {
  const exact = operations.find(({ name }) => name === text);
  if (exact !== undefined) return exact;
  const meant = operationNameOf(text);
  return operations.find(({ name }) => name === meant);
}

function known(
  text: string | undefined,
  operations: readonly Operation[],
  unknown: (text: string) => Error,
): string | undefined {
  if (text === undefined) return undefined;
  const operation = findByLooseName(text, operations);
  if (operation === undefined) throw unknown(text);
  return operation.name;
}
