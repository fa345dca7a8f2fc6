import { withScope } from '../../../base/async/scope.ts';
import { hashFile } from '../../../base/disk/hash-file.ts';
import type { EntryLists } from '../../list/entry-lists.ts';
import { comparedLists, ListComparer } from '../../list/list-comparer.ts';
import { DoneRows } from '../../manifest/check/call-index.ts';
import { type ScanHandlers, type ScanSummary, scanManifest } from '../../manifest/check/scan.ts';
import type { OperationChoice } from '../../manifest/columns/operation-choice.ts';
import type { Manifest, ManifestRow } from '../../manifest/manifest.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { DecidedRow } from '../../rows/row.ts';
import type { RunStore } from '../record/store.ts';
import { ChangeFile, type Changes } from './change-file.ts';
import { readDone } from './done-before.ts';
import { keysOfEarlierRuns } from './kept-keys.ts';
import { type OpenedManifest, openPlannedManifest, type RowOptions } from './open-manifest.ts';
import { type ProblemList, problemCollector } from './problem-file.ts';

export interface CheckInput {
  /** The path of a regular file, which may be read twice. */
  readonly path: string;
  readonly name: string;
  readonly reading: RowOptions;
  readonly context?: ReadingContext;
  readonly skipDone?: readonly string[] | undefined;
  readonly baseUrl?: string | undefined;
  /** The lists of the service, needed if the rows are compared (`reading.compare`). */
  readonly lists?: EntryLists | undefined;
}

/** The lists with whose entries the rows were compared, and what the rows change. */
export interface ComparedRows extends Changes {
  readonly lists: NonNullable<RowsHead['compared']>;
}

export interface CheckedManifest {
  readonly manifest: Pick<Manifest, 'name' | 'sheet'> & { readonly format: string };
  readonly scan: ScanSummary;
  readonly choice: Pick<OperationChoice, 'source'>;
  readonly problems: ProblemList;
  /** The earlier runs and reports whose rows were left out. */
  readonly doneRows?: Pick<DoneRows, 'sources'> | undefined;
  /** The comparison with the lists. Absent if rows are called as they are. */
  readonly compared?: ComparedRows;
}

/** @returns a promise when the caller must wait for a write */
type TakeRow = (row: DecidedRow, given: ManifestRow, columns: readonly string[]) => Promise<void> | undefined;

/**
 * Checks every row as a run would, and lists the problems in a file.
 *
 * @param take gets decided rows, in order
 * @throws the errors of `openPlannedManifest`
 */
export function checkManifest(
  store: RunStore,
  { path, name, reading, context, skipDone, baseUrl, lists }: CheckInput,
  take?: TakeRow,
): Promise<CheckedManifest & OpenedManifest> {
  return withScope(async (defer) => {
    const { operations, stateDir } = store;
    const { onConflict = 'refuse', map, clearToken } = reading;
    const overflow = { folder: stateDir };
    const doneRows = skipDone && new DoneRows(overflow);
    defer(() => doneRows?.close());
    if (doneRows) await readDone(store, skipDone, doneRows, { baseUrl, map, clearToken, context });
    const isCompared = lists !== undefined;
    if (isCompared !== (reading.compare ?? false))
      throw new TypeError('Lists are for rows that are compared.');
    const { manifest, prepare } = await openPlannedManifest(path, name, reading, {
      ...context,
      operations,
      isCompared,
    });
    const unreadable: string[] = [];
    const keys =
      baseUrl === undefined
        ? undefined
        : await keysOfEarlierRuns(store, baseUrl, (run) => unreadable.push(run));
    const noted = { stateDir, name, sha256Of: async () => (await hashFile(path)).sha256 };
    const problems = problemCollector(noted);
    const changes = lists && new ChangeFile(noted);
    const handlers: ScanHandlers = {
      async onInvalid(row) {
        await problems.add(row);
      },
      onRow(row, given) {
        const noting = changes?.add(row);
        const taking = take?.(row, given, manifest.columns());
        return noting === undefined ? taking : noting.then(() => taking);
      },
      ...(onConflict === 'refuse' && { onConflict: (conflict) => problems.addConflict(conflict) }),
    };
    const comparer =
      lists && new ListComparer(lists, operations, 'look at the entry, then correct or remove this cell');
    const scan = await scanManifest(manifest, prepare, handlers, {
      onConflict,
      done: doneRows,
      keys,
      comparer,
      unreadable,
      overflow,
    });
    return {
      manifest,
      prepare,
      scan,
      choice: prepare.choice,
      problems: await problems.end(),
      doneRows,
      ...(lists && changes && { compared: { lists: comparedLists(lists), ...(await changes.end()) } }),
    };
  });
}
