import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { onDisk } from '../../../base/errors/system-error.ts';
import type { Attribution } from '../../../domain/actor.ts';
import { noHistory } from '../../../domain/attempts.ts';
import { runIds } from '../../../domain/names.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { openJournal } from '../../journal/open.ts';
import type { EntryLists } from '../../list/entry-lists.ts';
import { type InputOptions, stageManifest } from '../../manifest/stage.ts';
import { type RunOptions, type RunRecord, stateEntry } from '../record/record.ts';
import { journalPath } from '../record/run-journal.ts';
import { rowsFile } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import type { PlanFile } from './file/plan-file.ts';
import type { RowOptions } from './open-manifest.ts';
import { type PlanManifestInput, type PlannedRows, planManifest } from './planned-rows.ts';
import { isReady, type PlanPermits, type ReadyRows, readyRows } from './readiness.ts';

/** The origin of a manifest that is moved aside during its run. */
export interface ManifestOrigin {
  readonly name: string;
  /** A path that exists once the manifest is archived. */
  readonly keepUntil: string;
  /** The SHA-256 of the manifest, because other users may replace the file. */
  readonly sha256: string;
}

export interface ManifestInput {
  readonly kind: 'manifest';
  /** The path of the manifest, or `-` for standard input. */
  readonly source: string;
  readonly origin?: ManifestOrigin | undefined;
  readonly reading: RowOptions;
  readonly input?: InputOptions;
  readonly skipDone?: readonly string[] | undefined;
  /** The lists of the service, needed if the rows are compared. */
  readonly lists?: EntryLists | undefined;
}

/** A file of planned rows that the run takes over. */
export interface RowsInput {
  readonly kind: 'rows';
  readonly path: string;
  readonly planned: PlannedRows;
  readonly planFile?: PlanFile | undefined;
  readonly origin?: ManifestOrigin | undefined;
}

export interface CreateRunInput {
  readonly rows: ManifestInput | RowsInput;
  readonly options: RunOptions;
  readonly runId?: string | undefined;
  readonly attribution?: Attribution;
}

export interface CreatedRun extends PlannedRows {
  readonly record: RunRecord;
  readonly journal: Journal;
}

/** A planned run, with everything that decides whether it may start. */
export type JudgedRun = CreatedRun & ReadyRows;

/** Shows a plan, and asks the user. An error that a function throws refuses the run. */
export interface Confirmation {
  /** Shows the plan, also one that is not ready, and why. */
  show(run: JudgedRun): void | Promise<void>;
  confirm(run: JudgedRun): Promise<boolean>;
}

/**
 * Creates a run, and discards it unless checks and user agree.
 *
 * @returns undefined when rows are refused or the user declines
 */
export async function beginRun(
  store: RunStore,
  { permits, ...input }: CreateRunInput & { readonly permits: PlanPermits },
  confirmation: Confirmation,
): Promise<CreatedRun | undefined> {
  const created = await createRun(store, input);
  let begins = false;
  try {
    const judged = await readyRows(store, created, input.options, permits);
    await confirmation.show(judged);
    if (!isReady(judged) || !(await confirmation.confirm(judged))) return undefined;
    begins = true;
    return created;
  } finally {
    if (!begins) await discard(store, created.record.id, created.journal);
  }
}

/**
 * Other processes see the run once its record is saved; until then `store.discard` undoes everything.
 *
 * @throws a usage error when the manifest is unreadable or its operation is unknown; the folder is then removed
 */
export async function createRun(store: RunStore, input: CreateRunInput): Promise<CreatedRun> {
  const { options, rows } = input;
  const { id, folder } = await store.create(input.runId);
  let journal: Journal | undefined;
  try {
    const planned =
      rows.kind === 'manifest'
        ? await planStaged(store, folder, rows, options)
        : await takeOver(folder, rows);
    journal = await openJournal(journalPath(folder), { runId: id });
    const history = { ...noHistory, unclear: true };
    await journal.append(planned.unclear.map((row): JournalEntry => ({ type: 'open', row, history })));
    return { ...planned, record: recordOf(id, input, planned), journal };
  } catch (error) {
    await discard(store, id, journal);
    throw error;
  }
}

export async function planStaged(
  store: RunStore,
  folder: string,
  { source, origin, reading, input, skipDone, lists }: Omit<ManifestInput, 'kind'>,
  options: Partial<RunOptions>,
  consent?: PlanManifestInput['consent'],
): Promise<PlannedRows> {
  const context = { ...input, operations: store.operations };
  const accepted = origin === undefined ? context : { ...context, sha256: origin.sha256 };
  const { path, name, ...digest } = await stageManifest(source, folder, accepted, reading, origin?.name);
  const planned = await planManifest(
    store,
    { path, name, digest, reading, context, skipDone, baseUrl: options.baseUrl, lists, options, consent },
    join(folder, rowsFile),
  );
  await rm(path);
  return planned;
}

async function takeOver(folder: string, { path, planned }: RowsInput): Promise<PlannedRows> {
  await onDisk(path, () => rename(path, join(folder, rowsFile)));
  return planned;
}

function recordOf(
  id: string,
  { options, rows, attribution }: CreateRunInput,
  { head, digest }: PlannedRows,
): RunRecord {
  const { name, sha256, bytes, delimiter } = head.source;
  const { left_out: leftOut, skip_done: skipDone } = head;
  const { origin } = rows;
  const planFile = rows.kind === 'rows' ? rows.planFile : undefined;
  const { as, of = '' } = head.derived ?? {};
  return {
    version: 2,
    id,
    key: randomUUID(),
    state: 'planned',
    states: [stateEntry('planned', attribution)],
    manifest: { name, sha256, bytes, ...(delimiter !== undefined && { delimiter }) },
    rows: digest,
    plan: {
      ...head.counts,
      ...(leftOut > 0 && { leftOut }),
      operations: head.operations.map((operation) => operation.name),
      ...(skipDone && { skipDone }),
    },
    options,
    ...(planFile && { planFile: planFileOf(planFile) }),
    ...(origin && { keepUntil: resolve(origin.keepUntil) }),
    ...(as === 'retry' && { retryOf: runIds.require(of) }),
    ...(as === 'undo' && { undoOf: runIds.require(of) }),
  };
}

function planFileOf({ file, sha256, head }: PlanFile) {
  return { name: basename(file), sha256, madeAt: head.made_at };
}

/** Removes a run that never started. The next plan removes what remains. */
export async function discard(
  store: Pick<RunStore, 'discard'>,
  id: string,
  journal: Pick<Journal, 'close'> | undefined,
): Promise<void> {
  await Promise.allSettled([journal?.close()]);
  await Promise.allSettled([store.discard(id)]);
}
