import { join } from 'node:path';
import { type Defer, withScope } from '../../../base/async/scope.ts';
import { oldNameOf } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import { CsvFile } from '../../report/csv-file.ts';
import type { ReportLine } from '../../report/join-results.ts';
import { DigestTable } from '../../rows/digest-table.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { Overflow } from '../../rows/record-pages.ts';
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
  /** What later runs may have done to the entries that are put back. A run without such rows is left out. */
  readonly laterEdits: readonly LaterEdits[];
}

export interface LaterEdits {
  readonly run: string;
  /** How many rows of the run are about such entries, or why the rows can't be read. */
  readonly rows: number | Error;
}

export interface UndoInput extends DerivedRowsInput {
  /** Whether entries are put back that have changed since the run. Default: false, if the rows are compared. */
  readonly overwrite?: boolean | undefined;
  /** Runs that may have changed the entries since. Default: none. */
  readonly laterRuns?: readonly RunRecord[] | undefined;
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
 * @param later retries of the run
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
    const run = await openLastRowsWithResults(store, record, later, defer);
    const { laterRuns = [], overflow = { folder: store.stateDir } } = input;
    const { conflicts, superseded } = record.plan;
    const subjects = new UndoneSubjects(overflow);
    defer(() => subjects.close());
    // Rows without conflicts have different subjects, and need no look in advance.
    if (conflicts + superseded > 0)
      for await (const part of callsOf(run, isEffective))
        for (const { row } of part) subjects.add(subjectKey(row));
    const columns = columnsOf(run.head);
    const rows = new DerivedRows(store, record, input);
    defer(() => rows.discard());
    const folder = store.folder(record.id);
    const list = (name: string, ...columns: readonly string[]) =>
      rowList(join(folder, name), ['_row', 'operation', 'id', ...columns], defer);
    const notUndone = list(notUndoneFile, 'fields', 'why');
    const byHand = list(byHandFile, 'unclear');
    const operationsByHand = new Map<string, Pick<Operation, 'name' | 'thing'>>();
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
        if (laterRuns.length > 0) subjects.putBack(subjectKey(call));
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
        if (subjects.isRepeated(key)) edits.set(key, edit);
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
      laterEdits: planned.scan.rows === 0 ? [] : await laterEditsOf(store, laterRuns, subjects),
    };
  });
}

/** Counts the rows of each run that are about what is put back, with any result. */
async function laterEditsOf(
  store: RunStore,
  runs: readonly RunRecord[],
  subjects: UndoneSubjects,
): Promise<readonly LaterEdits[]> {
  const edits: LaterEdits[] = [];
  for (const run of runs) {
    let rows: number | Error = 0;
    try {
      for await (const part of (await openRunRows(store, run)).rows())
        for (const row of part) if (row.kind !== 'invalid' && subjects.isPutBack(subjectKey(row))) rows += 1;
    } catch (error) {
      rows = error as Error;
    }
    if (rows !== 0) edits.push({ run: run.id, rows });
  }
  return edits;
}

/** Whether a row shows a change, or an earlier value: a later row may have superseded it. */
function isEffective(line: ReportLine): boolean {
  return mayHaveChangedEntry(line) || line.result.code === 'SUPERSEDED';
}

/** The numbers of an entry: 1 for a subject with several effective rows, and 1 for a subject that is put back. */
const [repeatedPlace, putBackPlace] = [0, 1];

/** The subjects that an undo must know again. A subject takes 11 to 22 bytes of memory, and 16 that may overflow. */
class UndoneSubjects {
  readonly #table: DigestTable;

  constructor(overflow: Overflow) {
    this.#table = new DigestTable(2, overflow);
  }

  /** Adds the subject of an effective row. */
  add(key: string): void {
    const entry = this.#table.find(key);
    if (entry < 0) this.#table.enter(key);
    else this.#table.set(entry, repeatedPlace, 1);
  }

  /** Whether several effective rows have the subject: only the edits of such subjects stay in memory. */
  isRepeated(key: string): boolean {
    return this.#has(key, repeatedPlace);
  }

  putBack(key: string): void {
    const entry = this.#table.find(key);
    this.#table.set(entry < 0 ? this.#table.enter(key) : entry, putBackPlace, 1);
  }

  isPutBack(key: string): boolean {
    return this.#has(key, putBackPlace);
  }

  close(): void {
    this.#table.close();
  }

  #has(key: string, place: number): boolean {
    const entry = this.#table.find(key);
    return entry >= 0 && this.#table.get(entry, place) === 1;
  }
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
