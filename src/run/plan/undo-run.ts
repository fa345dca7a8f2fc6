import { join } from 'node:path';
import { DigestTable } from '../../manifest/check/digest-table.ts';
import { oldNameOf } from '../../manifest/columns/column-names.ts';
import type { CallableRow } from '../../manifest/columns/row-preparer.ts';
import { type AtEnd, withReleases } from '../../releases.ts';
import { CsvFile } from '../../report/csv-file.ts';
import type { ReportLine } from '../../report/join-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { type CallLine, callsOf, openLastLines, RowsFile, subjectKey } from './run-lines.ts';
import { openManifestCopy } from './run-manifest.ts';

/** What a run has done, as a manifest that takes it back, as far as that goes. */
export interface UndoManifest {
  /** Of the rows that are put back: their numbers in the manifest that the user gave. */
  readonly rowNumbers: readonly number[];
  /** Rows that are not put back, or only some of whose fields are, and the file that lists them with why. */
  readonly notUndone: ListedRows;
  /** Rows that can only be undone by hand, and the file that lists them. */
  readonly byHand: ListedRows;
  /** The keys of what is put back, to find out which other runs have edited it. */
  readonly subjects: ReadonlySet<string>;
}

export interface ListedRows {
  readonly rows: number;
  /** Absent when there are no such rows. */
  readonly file?: string;
}

export const notUndoneFile = 'not-undone.csv';
export const byHandFile = 'undo-by-hand.csv';

/** What the rows that act on one subject have changed. */
interface Edit {
  /** The first of the rows that have changed it; 0: none has. */
  row: number;
  /** The first of the calls. */
  readonly call: CallableRow;
  /** What the fields were before the first row that has or would have sent them; undefined where it does not say that. */
  readonly before: Map<string, unknown>;
  /** What they are now, unless they were edited since. */
  readonly now: Map<string, unknown>;
}

/**
 * Writes a manifest that puts back what the rows of a run, or of these later retries, have changed or may have changed: the
 * fields that a row sent and whose old values it has. Of several rows for one subject the earliest old value counts, also that
 * of a superseded row: the old value of the later row may be what the superseded one would have written. In the run's folder
 * it lists what can't be taken back, and what only by hand.
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
    const rows = new RowsFile(path);
    const list = (name: string, ...columns: readonly string[]) =>
      rowList(join(folder, name), ['_row', 'operation', 'id', ...columns], atEnd);
    const notUndone = list(notUndoneFile, 'fields', 'why');
    const byHand = list(byHandFile, 'unclear');
    const subjects = new Set<string>();
    const edits = new Map<string, Edit>();

    const putBack = (edit: Edit): void => {
      const { row, call, before, now } = edit;
      if (row === 0) return;
      const missing = [...now.keys()].filter((field) => before.get(field) === undefined);
      if (missing.length < now.size) {
        rows.add(row, undoRow(edit));
        subjects.add(subjectKey(call));
      }
      if (missing.length === 0) return;
      const why =
        missing.length < now.size
          ? 'no old values for these fields; the others are restored'
          : 'no old values';
      notUndone.add([String(row), call.operation.name, call.subject, missing.join(' '), why]);
    };

    for await (const part of callsOf(await openLastLines(store, record, later, atEnd), isEffective)) {
      for (const line of part) {
        const { call, result } = line;
        const { operation, subject } = call;
        if (!operation.fields.some(({ undoable }) => undoable)) {
          if (hasChanged(line))
            byHand.add([String(line.row.row), operation.name, subject, result.unclear ? 'yes' : '']);
          continue;
        }
        const key = subjectKey(call);
        const edit = edits.get(key) ?? { row: 0, call, before: new Map(), now: new Map() };
        note(edit, line);
        if (repeated.has(key)) edits.set(key, edit);
        else putBack(edit);
      }
      await Promise.all([rows.flush(), notUndone.flush(), byHand.flush()]);
    }
    for (const edit of edits.values()) putBack(edit);
    await rows.flush();
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
      const call = prepare(row);
      if (call.kind === 'callable' && subjects.has(subjectKey(call))) rows += 1;
    }
  }
  return rows;
}

/** Whether a row has changed something, or may have. */
function hasChanged({ result: { outcome, unclear } }: ReportLine): boolean {
  return outcome === 'succeeded' || unclear;
}

/** Whether a row tells what was changed, or what it was before: a later row may have superseded it. */
function isEffective(line: ReportLine): boolean {
  return hasChanged(line) || line.result.code === 'SUPERSEDED';
}

/** Subjects on which several rows have acted, or would have: only their edits are kept in memory. */
function repeatedSubjects(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<ReadonlySet<string>> {
  return withReleases(async (atEnd) => {
    const seen = new DigestTable(0);
    const repeated = new Set<string>();
    for await (const part of callsOf(await openLastLines(store, record, later, atEnd), isEffective)) {
      for (const { call } of part) {
        const key = subjectKey(call);
        if (seen.find(key) < 0) seen.enter(key);
        else repeated.add(key);
      }
    }
    return repeated;
  });
}

function note(edit: Edit, line: CallLine): void {
  const { operation, values, old = {} } = line.call;
  if (edit.row === 0 && hasChanged(line)) edit.row = line.row.row;
  for (const { name, required } of operation.fields) {
    if (required || values[name] === undefined) continue;
    if (!edit.before.has(name)) edit.before.set(name, old[name]);
    if (hasChanged(line)) edit.now.set(name, values[name]);
  }
}

/** The row that puts the old values back, with what is there now as its old values: an undo can be undone, too. */
function undoRow({ call, before, now }: Edit): Readonly<Record<string, unknown>> {
  const { operation, values } = call;
  const required = operation.fields.filter((field) => field.required).map(({ name }) => [name, values[name]]);
  const known = [...before].filter(([field, value]) => value !== undefined && now.has(field));
  return {
    operation: operation.name,
    ...Object.fromEntries(required),
    ...Object.fromEntries(known),
    ...Object.fromEntries(known.map(([field]) => [oldNameOf(field), now.get(field)])),
  };
}

/** A file of the run's folder that lists rows, made only when there are any. */
function rowList(path: string, header: readonly string[], atEnd: AtEnd) {
  const file = new CsvFile(path, header);
  atEnd(() => file.discard());
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
