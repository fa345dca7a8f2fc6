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

/** A manifest that undoes a run, as far as possible. */
export interface UndoManifest {
  /** Row numbers in the user's manifest of the rows that are put back. */
  readonly rowNumbers: readonly number[];
  /** Rows that are not put back, or only in part, and the file that lists them with the reasons. */
  readonly notUndone: ListedRows;
  /** Rows that can only be undone by hand, and the file that lists them. */
  readonly byHand: ListedRows;
  /** The keys of the subjects that are put back, to find other runs that edited them. */
  readonly subjects: ReadonlySet<string>;
}

export interface ListedRows {
  readonly rows: number;
  /** Absent without such rows. */
  readonly file?: string;
}

export const notUndoneFile = 'not-undone.csv';
export const byHandFile = 'undo-by-hand.csv';

/** How the rows with one subject have changed it. */
interface Edit {
  /** The first row that changed the subject; 0 if none did. */
  row: number;
  /** The first call. */
  readonly call: CallableRow;
  /** Values before the first row that sent the field, or would have; undefined where that row does not say. */
  readonly before: Map<string, unknown>;
  /** Values after the run, unless they were edited since. */
  readonly now: Map<string, unknown>;
}

/**
 * Writes a manifest that puts back what the rows of a run, or of its later retries, have changed or may have changed: the
 * fields that a row sent and whose old values it gives. If several rows have one subject, the earliest old value counts, even
 * of a superseded row: the old value of a later row may be what the superseded row would have written. Files in the run's
 * folder list what can't be undone, and what only by hand.
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

/** Counts the rows of a run's manifest with one of these subjects, whatever their results. */
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

/** Whether a row has changed its subject, or may have. */
function hasChanged({ result: { outcome, unclear } }: ReportLine): boolean {
  return outcome === 'succeeded' || unclear;
}

/** Whether a row shows a change, or the state before: a later row may have superseded it. */
function isEffective(line: ReportLine): boolean {
  return hasChanged(line) || line.result.code === 'SUPERSEDED';
}

/** Subjects with several rows, which acted or would have: only their edits stay in memory. */
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

/** The row that puts the old values back. Its own old values are the current ones, so that an undo can be undone, too. */
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

/** A file in the run's folder that lists rows; created with its first row. */
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
