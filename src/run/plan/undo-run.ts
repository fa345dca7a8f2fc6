import { join } from 'node:path';
import { FirstCalls } from '../../manifest/check/duplicate-index.ts';
import { oldNameOf } from '../../manifest/columns/old-values.ts';
import type { CallableRow } from '../../manifest/columns/row-preparer.ts';
import type { Operation } from '../../operation/operation.ts';
import { type AtEnd, withReleases } from '../../releases.ts';
import { CsvFile } from '../../report/csv-file.ts';
import type { ReportLine } from '../../report/join-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { RowsFile } from './rows-file.ts';
import { openLastLines } from './run-lines.ts';
import { openManifestCopy } from './run-manifest.ts';

/** What a run has done, as a manifest that takes it back, as far as that goes. */
export interface UndoManifest {
  /** Of the rows that are put back: their numbers in the manifest that the user gave. */
  readonly rowNumbers: readonly number[];
  /** Rows that are not put back, or only some of whose fields are, and the file that lists them with why. */
  readonly notUndone: ListedRows;
  /** Rows whose doing can only be taken back by hand, and the file that lists them. */
  readonly byHand: ListedRows;
  /** What is put back, to find out who else has edited it. */
  readonly subjects: ReadonlySet<string>;
}

export interface ListedRows {
  readonly rows: number;
  /** Absent when there are none. */
  readonly file?: string;
}

export const notUndoneFile = 'not-undone.csv';
export const byHandFile = 'undo-by-hand.csv';

/** What the rows that act on one subject have changed. */
interface Edit {
  /** The first of the rows that have changed it; 0: none has. */
  row: number;
  readonly operation: Operation;
  readonly subject: string;
  /** The fields that every row of the operation has. */
  readonly required: Readonly<Record<string, unknown>>;
  /** What the fields were before the first row that has or would have sent them; undefined where it does not say that. */
  readonly before: Map<string, unknown>;
  /** What they are now, if nobody else has edited them. */
  readonly now: Map<string, unknown>;
}

/**
 * Writes a manifest that puts back what the rows of a run, or of these later retries, have changed or may have changed: the
 * fields that a row sent and whose old values it has. Of several rows for one subject the earliest old value counts, also of
 * one that a later row superseded: what that one says of before may be what the earlier one would have made it. In the
 * run's folder it lists what can't be taken back, and what only by hand.
 */
export function writeUndoManifest(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  path: string,
): Promise<UndoManifest> {
  return withReleases(async (atEnd) => {
    const repeated = await repeatedSubjects(store, record, later);
    const folder = store.folder(record.id);
    const rows = await RowsFile.create(path, atEnd);
    const notUndone = new RowList(
      join(folder, notUndoneFile),
      ['_row', 'operation', 'id', 'fields', 'why'],
      atEnd,
    );
    const byHand = new RowList(join(folder, byHandFile), ['_row', 'operation', 'id', 'unclear'], atEnd);
    const subjects = new Set<string>();
    const edits = new Map<string, Edit>();

    const putBack = (edit: Edit): void => {
      const { row, operation, subject, before, now } = edit;
      if (row === 0) return;
      const missing = [...now.keys()].filter((field) => before.get(field) === undefined);
      if (missing.length < now.size) {
        rows.add(row, undoRow(edit));
        subjects.add(keyOf(operation, subject));
      }
      if (missing.length === 0) return;
      const why =
        missing.length < now.size
          ? 'no old values of these fields; the others are put back'
          : 'no old values';
      notUndone.add([String(row), operation.name, subject, missing.join(' '), why]);
    };

    await eachDone(store, record, later, async (done) => {
      for (const one of done) {
        const { prepared, result, row } = one;
        const { operation, subject } = prepared;
        if (!operation.fields.some(({ undoable }) => undoable)) {
          if (hasChanged(result))
            byHand.add([String(row), operation.name, subject, result.unclear ? 'yes' : '']);
          continue;
        }
        const key = keyOf(operation, subject);
        const edit = edits.get(key) ?? newEdit(prepared);
        note(edit, one);
        if (repeated.has(key)) edits.set(key, edit);
        else putBack(edit);
      }
      await Promise.all([rows.flush(), notUndone.flush(), byHand.flush()]);
    });
    for (const edit of edits.values()) putBack(edit);
    await rows.seal();
    return {
      rowNumbers: rows.rowNumbers,
      notUndone: await notUndone.publish(),
      byHand: await byHand.publish(),
      subjects,
    };
  });
}

/** How many rows of a run act on one of these subjects: of its manifest, whatever came of them. */
export async function rowsOn(
  store: RunStore,
  record: RunRecord,
  subjects: ReadonlySet<string>,
): Promise<number> {
  const { manifest, prepare } = await openManifestCopy(store, record);
  let rows = 0;
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      const prepared = prepare(row);
      if (prepared.kind === 'callable' && subjects.has(keyOf(prepared.operation, prepared.subject)))
        rows += 1;
    }
  }
  return rows;
}

interface DoneRow {
  readonly row: number;
  readonly prepared: CallableRow;
  readonly result: ReportLine['result'];
}

/** Whether a row has changed something, or may have. */
function hasChanged({ outcome, unclear }: DoneRow['result']): boolean {
  return outcome === 'succeeded' || unclear;
}

/** Reads the rows that have changed something, or may have, and those that a later one superseded, in parts. */
function eachDone(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  visit: (done: readonly DoneRow[]) => Promise<void> | void,
): Promise<void> {
  return withReleases(async (atEnd: AtEnd) => {
    const { lines, prepare } = await openLastLines(store, record, later, atEnd);
    for await (const part of lines) {
      const done: DoneRow[] = [];
      for (const { row, result } of part) {
        if (!hasChanged(result) && result.code !== 'SUPERSEDED') continue;
        const prepared = prepare(row);
        if (prepared.kind === 'callable') done.push({ row: row.row, prepared, result });
      }
      await visit(done);
    }
  });
}

/** Subjects on which several rows have acted, or would have: only their edits are kept in memory. */
async function repeatedSubjects(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<ReadonlySet<string>> {
  const calls = new FirstCalls();
  const repeated = new Set<string>();
  await eachDone(store, record, later, (done) => {
    for (const { row, prepared } of done) {
      const { operation, subject } = prepared;
      const { kind } = calls.add({ row, line: row, operation: operation.name, subject, request: '' });
      if (kind !== 'new') repeated.add(keyOf(operation, subject));
    }
  });
  return repeated;
}

function keyOf(operation: Operation, subject: string): string {
  return `${operation.name} ${subject}`;
}

function newEdit({ operation, subject, values }: CallableRow): Edit {
  const required = operation.fields.filter((field) => field.required).map(({ name }) => [name, values[name]]);
  return {
    ...{ row: 0, operation, subject, required: Object.fromEntries(required) },
    before: new Map(),
    now: new Map(),
  };
}

function note(edit: Edit, { prepared: { values, old = {} }, result, row }: DoneRow): void {
  const { operation, before, now } = edit;
  if (edit.row === 0 && hasChanged(result)) edit.row = row;
  for (const { name, required } of operation.fields) {
    if (required || values[name] === undefined) continue;
    if (!before.has(name)) before.set(name, old[name]);
    if (hasChanged(result)) now.set(name, values[name]);
  }
}

/** The row that puts the old values back, with what is there now as its old values: an undo can be undone, too. */
function undoRow({ operation, required, before, now }: Edit): Readonly<Record<string, unknown>> {
  const known = [...before].filter(([field, value]) => value !== undefined && now.has(field));
  return {
    operation: operation.name,
    ...required,
    ...Object.fromEntries(known),
    ...Object.fromEntries(known.map(([field]) => [oldNameOf(field), now.get(field)])),
  };
}

/** A file of the run's folder that lists rows; there is none when there are no rows. */
class RowList {
  readonly #file: CsvFile;
  #records: (readonly string[])[] = [];
  #rows = 0;

  constructor(path: string, header: readonly string[], atEnd: AtEnd) {
    this.#file = new CsvFile(path, header);
    atEnd(() => this.#file.discard());
  }

  add(record: readonly string[]): void {
    this.#records.push(record);
    this.#rows += 1;
  }

  async flush(): Promise<void> {
    if (this.#records.length > 0) await this.#file.write(this.#records.splice(0));
  }

  async publish(): Promise<ListedRows> {
    await this.flush();
    await this.#file.seal();
    await this.#file.publish();
    return { rows: this.#rows, ...(this.#rows > 0 && { file: this.#file.path }) };
  }
}
