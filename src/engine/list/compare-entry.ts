import { readMoment } from '../../base/text/moment.ts';
import { oldNameOf } from '../operation/field-names.ts';
import type { OperationList } from '../operation/list-definition.ts';
import type { Operation } from '../operation/operation.ts';
import type { Field, Row } from '../operation/row-fields.ts';
import { excerpt, type RowProblem } from '../rows/problem.ts';
import type { OldValues } from '../rows/row.ts';
import type { KnownEntry } from './listed-entries.ts';

/** What a row wants of an entry. */
export interface WantedValues {
  readonly values: Row;
  /** The values that the entry has, as the row says. */
  readonly old?: OldValues | undefined;
}

/** What a row means for its entry. */
export type EntryComparison =
  /** `values` is the whole entry as it will be, `old` what changes of it. */
  | { readonly kind: 'changes'; readonly values: Row; readonly old: OldValues }
  | { readonly kind: 'as wanted' }
  /** A row that must not be called. The column of its problem is the name of a field, or of its old value. */
  | { readonly kind: 'misfit'; readonly problem: RowProblem };

export type ComparedOperation = Pick<Operation, 'subject' | 'fields'>;

/**
 * Compares a row with its entry. Fields that a list does not have, and those that it only has to name the entry, are sent as the row gives
 * them. Fields that the service computes are sent as they were listed.
 *
 * @param list of the operation
 * @param entry what is listed under the row's identifier; undefined when there is no such entry
 */
export function compareEntry(
  operation: ComparedOperation,
  list: Pick<OperationList, 'fields' | 'computed' | 'absent'>,
  { values, old: expected = {} }: WantedValues,
  entry: KnownEntry | undefined,
): EntryComparison {
  const { subject } = operation;
  const misfit = misfitOf(list, entry);
  if (misfit !== undefined)
    return { kind: 'misfit', problem: { column: subject, problem: misfit, value: values[subject] ?? '' } };
  const whole: Record<string, string> = {};
  const old: Record<string, string> = {};
  let isChange = listedFields(operation, list).length === 0;
  for (const field of operation.fields) {
    const { name, required } = field;
    const [wanted, listed] = [values[name], entry?.fields[name]];
    if (required || !list.fields.includes(name)) {
      if (wanted !== undefined) whole[name] = wanted;
      if (wanted !== undefined && !required) isChange = true;
      continue;
    }
    if (list.computed.includes(name) || wanted === undefined || isSame(field, wanted, listed)) {
      if (listed !== undefined) whole[name] = listed;
      continue;
    }
    const was = expected[name];
    if (was !== undefined && !isSame(field, was, listed))
      return { kind: 'misfit', problem: oldValueConflict(name, was, presentText(field, listed)) };
    whole[name] = wanted;
    old[name] = presentText(field, listed);
    isChange = true;
  }
  return isChange ? { kind: 'changes', values: whole, old } : { kind: 'as wanted' };
}

/** Why the operation can't act on an entry. Undefined if it can. */
export function misfitOf(
  { absent }: Pick<OperationList, 'absent'>,
  entry: Pick<KnownEntry, 'unfit'> | undefined,
): string | undefined {
  return entry === undefined ? absent : entry.unfit;
}

/** The fields of an entry that rows can change, and that the list shows. */
export function listedFields<Each extends ComparedOperation>(
  { fields }: Each,
  { fields: listed, computed }: Pick<OperationList, 'fields' | 'computed'>,
): Each['fields'] {
  return fields.filter(
    ({ name, required }) => !required && listed.includes(name) && !computed.includes(name),
  );
}

/** Whether two values are the same for a service, which may leave out empty texts and zeros, or write a time in another zone. */
export function isSame({ type, expectation }: ComparedField, one = '', other = ''): boolean {
  if (one === other || (isEmpty(type, one) && isEmpty(type, other))) return true;
  const isTime = expectation !== undefined && [one, other].every((text) => expectation(text) === undefined);
  const moment = isTime ? readMoment(one) : undefined;
  return moment !== undefined && moment === readMoment(other);
}

type ComparedField = Pick<Field, 'type' | 'expectation'>;

function isEmpty(type: Field['type'], value: string): boolean {
  if (value === '') return true;
  return type === 'integer' ? value === '0' : type === 'json' && (value === '[]' || value === '{}');
}

function presentText({ type }: Pick<Field, 'type'>, text: string | undefined): string {
  return text ?? (type === 'integer' ? '0' : '');
}

function oldValueConflict(field: string, was: string, is: string): RowProblem {
  return {
    column: oldNameOf(field),
    problem: `the entry is different: ${field} is ${shownText(is)} now`,
    value: excerpt(was),
  };
}

/** A value for a message: `"Greeting"`, or `empty`. */
export function shownText(text: string): string {
  return text === '' ? 'empty' : `"${excerpt(text)}"`;
}

/**
 * Why a compared row must not be called any more. Undefined if it may be called.
 *
 * @param entry what is listed now
 * @param mayBeDone a call of the row may have been processed
 */
export function changeSince(
  operation: ComparedOperation,
  list: Pick<OperationList, 'fields' | 'computed' | 'absent'>,
  { values, old = {} }: WantedValues,
  entry: KnownEntry | undefined,
  mayBeDone: boolean,
): string | undefined {
  const fields = listedFields(operation, list);
  if (entry === undefined && fields.length === 0 && mayBeDone) return undefined;
  const misfit = misfitOf(list, entry);
  if (misfit !== undefined) return misfit;
  if (fields.every((field) => isSame(field, values[field.name], entry?.fields[field.name]))) return undefined;
  const texts = fields.flatMap((field) => {
    const { name } = field;
    const [was, is] = [old[name] ?? values[name], entry?.fields[name]];
    if (isSame(field, was, is)) return [];
    const [before, now] = [was, is].map((text) => shownText(presentText(field, text)));
    return [`${name} was ${before}, and is ${now} now`];
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}
