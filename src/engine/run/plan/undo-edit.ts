import { isSame, listedFields, misfitOf, shownText } from '../../list/compare-entry.ts';
import type { EntryLists } from '../../list/entry-lists.ts';
import type { Operation } from '../../operation/operation.ts';
import { operationNamed, requestDigest } from '../../operation/shown-request.ts';
import type { ReportLine } from '../../report/join-results.ts';
import type { CallableRow, UnderstoodRow } from '../../rows/row.ts';
import type { RunStore } from '../record/store.ts';
import type { CallLine } from './rows-with-results.ts';

/** What a run, or its later retries, did to an entry. */
export interface Edit {
  /** The place of the first row that changed the subject, or 0. */
  row: number;
  readonly call: UnderstoodRow;
  /** By field: the value before the first row that sent the field, or would have; undefined where that row has no old value. */
  readonly oldValues: Map<string, string | undefined>;
  /** The value of each field after the run, by field. */
  readonly newValues: Map<string, string>;
}

export function mayHaveChangedEntry({ result: { outcome, unclear } }: ReportLine): boolean {
  return outcome === 'succeeded' || unclear;
}

export function addLineToEdit(edit: Edit, line: CallLine): void {
  const { operation, values, compared, old = {} } = line.row;
  if (edit.row === 0 && mayHaveChangedEntry(line)) edit.row = line.row.row;
  for (const { name, required } of operation.fields) {
    const value = values[name];
    if (required || value === undefined) continue;
    // A compared row has the whole entry, of which it changes only what is in `old`.
    if (!edit.oldValues.has(name)) edit.oldValues.set(name, old[name] ?? (compared && value));
    if (mayHaveChangedEntry(line)) edit.newValues.set(name, value);
  }
}

/**
 * The row's own old values are the current values, so that an undo can be undone, too.
 *
 * @param isCompared a comparison will add the old values, and the fields that the run did not change
 */
export function undoRow(
  operations: readonly Operation[],
  { row, call, oldValues, newValues }: Edit,
  isCompared: boolean,
): CallableRow {
  const { line, subject, values } = call;
  const operation = operationNamed(operations, call.operation.name);
  const sent: Record<string, string> = {};
  const old: Record<string, string> = {};
  for (const { name, required } of operation.fields) {
    const given = values[name];
    const [was, is] = [oldValues.get(name), newValues.get(name)];
    if (required && given !== undefined) sent[name] = given;
    if (required || was === undefined || is === undefined || (isCompared && was === is)) continue;
    sent[name] = was;
    old[name] = is;
  }
  const undoing = { kind: 'callable', row, line, operation, subject, values: sent } as const;
  return isCompared
    ? { ...undoing, requestDigest: '' }
    : { ...undoing, old, requestDigest: requestDigest(operation.request(sent)) };
}

/** Why an entry is not put back: it is gone, or is neither as the run left it nor as it was before. */
export async function changedSince(
  { operations }: Pick<RunStore, 'operations'>,
  lists: EntryLists,
  { call, oldValues, newValues }: Edit,
): Promise<
  { readonly fields: readonly string[]; readonly why: string; readonly mayOverwrite: boolean } | undefined
> {
  const operation = operationNamed(operations, call.operation.name);
  const entries = await lists.of(operation);
  const { list } = entries;
  const entry = entries.find(call.subject);
  const misfit = misfitOf(list, entry);
  if (misfit !== undefined) return { fields: [...newValues.keys()], why: misfit, mayOverwrite: false };
  const changed = listedFields(operation, list).filter((field) => {
    const { name } = field;
    const [is, was] = [newValues.get(name), oldValues.get(name)];
    const now = entry?.fields[name];
    const isAs = (known: string | undefined) =>
      (known !== undefined || call.compared) && isSame(field, now, known);
    // A compared row has no value for a field that was empty, and stays so.
    return (is !== undefined || call.compared) && !isAs(is) && !isAs(was);
  });
  if (changed.length === 0) return undefined;
  const fields = changed.map(({ name }) => name);
  const texts = fields.map((name) => `${name} is ${shownText(entry?.fields[name] ?? '')} now`);
  const own = [...newValues].filter(([name, is]) => oldValues.get(name) !== is).map(([name]) => name);
  return {
    fields,
    why: `changed since the run: ${texts.join('; ')} (--overwrite puts back only what the run changed: ${own.join(', ')})`,
    mayOverwrite: true,
  };
}
