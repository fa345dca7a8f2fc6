import { join } from 'node:path';
import { type Defer, withScope } from '../../../base/async/scope.ts';
import { oldNameOf } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { CsvFile } from '../../report/csv-file.ts';
import type { ReportLine } from '../../report/join-results.ts';
import { DigestTable } from '../../rows/digest-table.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { CallableRow, CellTexts } from '../../rows/row.ts';
import type { RunRecord } from '../record/record.ts';
import { openRunRows, requireOperations } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import { DerivedRows, type DerivedRowsInput } from './derived-rows.ts';
import type { PlannedRows } from './planned-rows.ts';
import { callsOf, openLastRowsWithResults, subjectKey } from './rows-with-results.ts';
import { addLineToEdit, changedSince, type Edit, mayHaveChangedEntry, undoRow } from './undo-edit.ts';

export interface UndoRows extends PlannedRows {
  /** Rows that are not put back, or only in part. */
  readonly notUndone: ListedRows;
  /** Rows that can only be undone by hand. */
  readonly byHand: ListedRows & { readonly operations: readonly Pick<Operation, 'name' | 'thing'>[] };
  /** Keys of what is put back, to find other runs that edited it. */
  readonly subjects: ReadonlySet<string>;
}

export interface UndoInput extends DerivedRowsInput {
  /** Whether entries are put back that have changed since the run. Default: false, if the rows are compared. */
  readonly overwrite?: boolean | undefined;
}

export interface ListedRows {
  readonly rows: number;
  readonly file?: string;
}

export const notUndoneFile = 'not-undone.csv';
export const byHandFile = 'undo-by-hand.csv';

/**
 * Writes rows that put back what a run or its later retries have changed, or may have: the sent fields whose old values the rows give.
 * Among rows with the same subject, the earliest old value counts, even of a superseded row: the old value of a later row may be what the
 * superseded row would have written. Files in the run's folder list what can't be undone, and what only by hand.
 *
 * @throws a usage error `OPERATION_MISSING`
 */
export function writeUndoRows(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  input: UndoInput,
): Promise<UndoRows> {
  return withScope(async (defer) => {
    requireOperations(store, record);
    const repeated = await repeatedSubjects(store, record, later);
    const run = await openLastRowsWithResults(store, record, later, defer);
    const columns = columnsOf(run.head);
    const rows = new DerivedRows(store, record, input);
    defer(() => rows.discard());
    const folder = store.folder(record.id);
    const list = (name: string, ...columns: readonly string[]) =>
      rowList(join(folder, name), ['_row', 'operation', 'id', ...columns], defer);
    const notUndone = list(notUndoneFile, 'fields', 'why');
    const byHand = list(byHandFile, 'unclear');
    const operationsByHand = new Map<string, Pick<Operation, 'name' | 'thing'>>();
    const subjects = new Set<string>();
    const edits = new Map<string, Edit>();

    const putBack = async (edit: Edit): Promise<void> => {
      const { row, call, oldValues, newValues } = edit;
      if (row === 0) return;
      const refused = input.lists && (await changedSince(store, input.lists, edit));
      if (refused !== undefined && !(input.overwrite && refused.mayOverwrite)) {
        notUndone.add([
          String(row),
          call.operation.name,
          call.subject,
          refused.fields.join(' '),
          refused.why,
        ]);
        return;
      }
      const missing = [...newValues.keys()].filter((field) => oldValues.get(field) === undefined);
      if (missing.length < newValues.size) {
        const undoing = undoRow(store.operations, edit, input.lists !== undefined);
        await rows.add(undoing, cellsOf(undoing, columns));
        subjects.add(subjectKey(call));
      }
      if (missing.length === 0) return;
      const isPart = missing.length < newValues.size;
      const why = isPart ? 'no old values for these fields; the others are restored' : 'no old values';
      notUndone.add([String(row), call.operation.name, call.subject, missing.join(' '), why]);
    };

    for await (const part of callsOf(run, isEffective)) {
      for (const line of part) {
        const { row: call, result } = line;
        const { operation, subject } = call;
        if (call.old === undefined && !operation.fields.some(({ undoable }) => undoable)) {
          if (!mayHaveChangedEntry(line)) continue;
          byHand.add([String(line.row.row), operation.name, subject, result.unclear ? 'yes' : '']);
          operationsByHand.set(operation.name, operation);
          continue;
        }
        const key = subjectKey(call);
        const edit = edits.get(key) ?? { row: 0, call, oldValues: new Map(), newValues: new Map() };
        addLineToEdit(edit, line);
        if (repeated.has(key)) edits.set(key, edit);
        else await putBack(edit);
      }
      await Promise.all([notUndone.flush(), byHand.flush()]);
    }
    for (const edit of edits.values()) await putBack(edit);
    const source = { ...run.head.source, name: `undo of ${record.id}`, ...record.rows };
    const facts = { source, reading: {}, columns, defaults: {} };
    const planned = await rows.end({
      of: run.head,
      as: 'undo',
      run: record.id,
      options: input.options,
      ...facts,
    });
    return {
      ...planned,
      notUndone: await notUndone.publish(),
      byHand: { ...(await byHand.publish()), operations: [...operationsByHand.values()] },
      subjects,
    };
  });
}

/** Counts rows with one of these subjects, with any result. */
export async function rowsOn(
  store: RunStore,
  record: RunRecord,
  subjects: ReadonlySet<string>,
): Promise<number> {
  const file = await openRunRows(store, record);
  let rows = 0;
  for await (const part of file.rows())
    for (const row of part) if (row.kind !== 'invalid' && subjects.has(subjectKey(row))) rows += 1;
  return rows;
}

/** Whether a row shows a change, or an earlier value: a later row may have superseded it. */
function isEffective(line: ReportLine): boolean {
  return mayHaveChangedEntry(line) || line.result.code === 'SUPERSEDED';
}

/** Subjects with several effective rows: only their edits stay in memory. */
function repeatedSubjects(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<ReadonlySet<string>> {
  return withScope(async (defer) => {
    const subjects = new DigestTable(0);
    const repeated = new Set<string>();
    for await (const part of callsOf(
      await openLastRowsWithResults(store, record, later, defer),
      isEffective,
    )) {
      for (const { row } of part) {
        const key = subjectKey(row);
        if (subjects.find(key) < 0) subjects.enter(key);
        else repeated.add(key);
      }
    }
    return repeated;
  });
}

function columnsOf({ operations }: RowsHead): RowsHead['columns'] {
  const fields = operations
    .filter((operation) => operation.fields.some(({ undoable }) => undoable))
    .flatMap((operation) => operation.fields);
  const old = fields.filter(({ undoable }) => undoable).map(({ name }) => oldNameOf(name));
  const names = new Set(['operation', ...fields.map(({ name }) => name), ...old]);
  return [...names].map((name) => ({ title: name, field: name }));
}

function cellsOf({ operation, values, old = {} }: CallableRow, columns: RowsHead['columns']): CellTexts {
  const texts = new Map([
    ['operation', operation.name],
    ...Object.entries(values),
    ...Object.entries(old).map(([name, text]) => [oldNameOf(name), text] as const),
  ]);
  return columns.map(({ title }) => texts.get(title) ?? null);
}

/** Opens a file with its first row, so that no empty file remains. */
function rowList(path: string, header: readonly string[], defer: Defer) {
  const file = new CsvFile(path, header);
  defer(() => file.discard());
  const records: (readonly string[])[] = [];
  let rows = 0;
  const flush = async (): Promise<void> => {
    if (records.length > 0) await file.write(records.splice(0));
  };
  return {
    add(record: readonly string[]): void {
      records.push(record);
      rows += 1;
    },
    flush,
    async publish(): Promise<ListedRows> {
      await flush();
      await file.seal();
      await file.publish();
      return { rows, ...(rows > 0 && { file: path }) };
    },
  };
}
