import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../disk/files.ts';
import { CqbatchError, fatalError, usageError } from '../../errors.ts';
import type { Journal } from '../../journal/journal.ts';
import { watchedForRounding } from '../../manifest/check/rounded-ids.ts';
import {
  createRowPreparer,
  type PreparedRow,
  type RowPreparer,
} from '../../manifest/columns/row-preparer.ts';
import { chosenBy, ownColumnsIn } from '../../manifest/columns/where.ts';
import type { Manifest, ManifestRow, ReadingOptions } from '../../manifest/manifest.ts';
import { openManifest } from '../../manifest/open.ts';
import { hashFile } from '../../manifest/stage.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import { findOperation } from '../../operation/operation.ts';
import type { RowTask } from '../../queue/payload.ts';
import { onDisk } from '../../system-error.ts';
import type { RunOptions, RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { readKeptPlan } from './kept-plan.ts';

/**
 * Opens a run's copy of its manifest.
 *
 * @throws a fatal error, now or while rows are read: `MANIFEST_COPY_MISSING` when the copy is missing, `MANIFEST_…` when it is
 * unreadable
 */
export async function openManifestCopy(store: RunStore, record: RunRecord): Promise<PlannedManifest> {
  requireOperations(store, record);
  const path = await copyOf(store, record);
  const planned = await openPlannedManifest(path, record.manifest.name, record.options, {
    operations: store.operations,
  });
  const { manifest } = planned;
  return { ...planned, manifest: { ...manifest, rows: () => rowsOfCopy(store, record, manifest) } };
}

/** @throws a usage error `OPERATION_MISSING` for a run with the user's own operations that are not loaded */
function requireOperations({ operations }: RunStore, { id, plan }: RunRecord): void {
  const missing = plan.operations.filter((name) => findOperation(operations, name) === undefined);
  if (missing.length === 0) return;
  throw usageError(
    'OPERATION_MISSING',
    `Run ${id} needs the operation ${missing.join(', ')}, which is not built in: pass --operations with the module ` +
      'that it was planned with, or set CQBATCH_OPERATIONS.',
  );
}

async function* rowsOfCopy(
  store: RunStore,
  record: RunRecord,
  manifest: Manifest,
): ReturnType<Manifest['rows']> {
  try {
    yield* manifest.rows();
  } catch (error) {
    const path = await copyOf(store, record);
    if (!(error instanceof CqbatchError)) throw error;
    // The message names the user's file, which may be intact.
    throw fatalError(error.code, `${error.message} (in ${path}, the copy of run ${record.id})`, error);
  }
}

/**
 * Makes sure that a run executes what was reviewed, even on resume.
 *
 * @throws a usage error `MANIFEST_CHANGED` when the copy of the manifest has changed, `PLAN_CHANGED` when the run is not that of its
 * signed-off plan, a fatal error `MANIFEST_COPY_MISSING`
 * when it is missing
 */
export async function refuseChangedManifest(store: RunStore, record: RunRecord): Promise<void> {
  const path = await copyOf(store, record);
  const folder = store.folder(record.id);
  await readKeptPlan(folder, record, (file, problem) =>
    usageError(
      'PLAN_CHANGED',
      `${join(folder, file)} ${problem}, so nothing is sent. Restore the file, or make the plan again and have it approved.`,
    ),
  );
  const { sha256 } = await hashFile(path);
  if (sha256 === record.manifest.sha256) return;
  throw usageError(
    'MANIFEST_CHANGED',
    `${path} was changed after run ${record.id} was planned, so nothing is sent. Put the original back, or start a ` +
      `new run with not-attempted.csv ("cqbatch report ${record.id}" writes it).`,
  );
}

async function copyOf(store: RunStore, { id, manifest, retryOf, undoOf }: RunRecord): Promise<string> {
  const path = join(store.folder(id), manifest.file);
  if ((await onDisk(path, () => ifThere(stat(path)))) !== undefined) return path;
  const isGiven = (retryOf ?? undoOf) === undefined;
  const remedy = isGiven ? `put a copy of ${manifest.name} in its place` : 'put it back';
  throw fatalError(
    'MANIFEST_COPY_MISSING',
    `${path} is missing: ${remedy}, as it was when run ${id} was planned (SHA-256 ${manifest.sha256}).`,
  );
}

/** A manifest, and the function that turns its rows into calls. */
export interface PlannedManifest {
  readonly manifest: Manifest;
  readonly prepare: RowPreparer;
}

/** The options of a run that decide how its manifest is read and what its rows mean. */
export type RowOptions = ReadingOptions &
  Pick<RunOptions, 'operation' | 'where' | 'default' | 'clearToken' | 'map' | 'onConflict' | 'trustIds'>;

/**
 * Opens a manifest for a plan or a run. The same file and options always give the same calls.
 *
 * @throws a usage error when the file is not a manifest or its operation is unknown
 */
export async function openPlannedManifest(
  path: string,
  name: string,
  options: RowOptions,
  context: ReadingContext & Pick<RunStore, 'operations'>,
): Promise<PlannedManifest> {
  const { operation, default: defaults, map, where } = options;
  const { operations } = context;
  const keptColumns = ownColumnsIn(where ?? []);
  const opened = await openManifest(path, { ...options, name, context, keptColumns });
  const whole = options.trustIds === true ? opened : watchedForRounding(opened, operations, map);
  const manifest = where === undefined ? whole : chosenBy(where, whole);
  return { manifest, prepare: createRowPreparer({ manifest, operation, operations, defaults, map }) };
}

/** Rows that may be called, by their numbers. */
export interface RowSelection {
  readonly has: (row: number) => boolean;
  /** The largest of them. */
  readonly last: number;
}

/** The rows without a result, or the selected ones among them, in order, ready to be fed. */
export async function* unfinishedTasks(
  runId: string,
  rows: AsyncIterable<readonly ManifestRow[]>,
  prepare: (row: ManifestRow) => PreparedRow,
  journal: Pick<Journal, 'isFinished' | 'history'>,
  selection?: RowSelection,
): AsyncIterable<Iterable<RowTask>> {
  function* tasksOf(chunk: readonly ManifestRow[]): Iterable<RowTask> {
    for (const row of chunk) {
      if (selection !== undefined && row.row > selection.last) return;
      if (journal.isFinished(row.row) || selection?.has(row.row) === false) continue;
      const prepared = prepare(row);
      if (prepared.kind === 'invalid') {
        throw fatalError(
          'ROW_NOT_PLANNED',
          `Row ${row.row} is invalid, although the plan of this run accepted it: ${prepared.problems[0]?.problem}.`,
        );
      }
      const history = journal.history(row.row);
      yield {
        run: runId,
        row: row.row,
        operation: prepared.operation.name,
        subject: prepared.subject,
        ...prepared.request,
        ...(history !== undefined && { history }),
      };
    }
  }

  for await (const chunk of rows) {
    const [first] = chunk;
    if (selection !== undefined && first !== undefined && first.row > selection.last) return;
    yield tasksOf(chunk);
  }
}
