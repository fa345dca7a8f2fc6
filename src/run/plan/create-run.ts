import { randomUUID } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import type { Attribution } from '../../actor.ts';
import { writeFileAtomically } from '../../disk/files.ts';
import type { RowHistory } from '../../domain.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { openJournal } from '../../journal/open.ts';
import type { DoneRows } from '../../manifest/check/call-index.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import type { InputOptions } from '../../manifest/stage.ts';
import { stageManifest } from '../../manifest/stage.ts';
import { type RunOptions, type RunRecord, stateEntry } from '../record/record.ts';
import { rowNumbersFile, writeRowNumbers } from '../record/row-numbers.ts';
import { journalPath } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { type ApprovedPlan, planFileText } from './approved-plan.ts';
import { type CheckedManifest, checkManifest } from './check-manifest.ts';
import { approvedPlanFile } from './kept-plan.ts';

/** The origin of a manifest that is moved aside during its run. */
export interface ManifestOrigin {
  /** Its name in messages. */
  readonly name: string;
  /** A file that exists once the manifest is archived; until then the run is kept. */
  readonly keepUntil: string;
  /** Its content: other users may replace it. */
  readonly sha256: string;
}

export interface CreateRunInput {
  /** Path of the manifest, `-` for standard input. */
  readonly source: string;
  /** Where the manifest comes from, if not from that path. */
  readonly origin?: ManifestOrigin | undefined;
  readonly options: RunOptions;
  /** How the manifest is read. */
  readonly input?: InputOptions;
  /** The id chosen by the user. */
  readonly runId?: string | undefined;
  /** The user who plans the run, and the reason. */
  readonly attribution?: Attribution;
  /** The signed-off plan to carry out. */
  readonly approved?: ApprovedPlan | undefined;
  /** What earlier runs have done: these rows are left out. */
  readonly done?: DoneRows | undefined;
  /** The run to retry or undo; the manifest was made of its rows. */
  readonly from?: {
    readonly as: 'retry' | 'undo';
    readonly of: RunRecord;
    /** Row numbers in the user's manifest, in order. */
    readonly rowNumbers: readonly number[];
    /** Earlier attempts, by row of this manifest. */
    readonly histories: ReadonlyMap<number, RowHistory>;
  };
}

/** A planned run that is not started; nothing has been sent. */
export interface CreatedRun extends Pick<CheckedManifest, 'scan' | 'choice' | 'problems'> {
  readonly record: RunRecord;
  readonly journal: Journal;
  /** Sheet of a workbook. */
  readonly sheet?: Manifest['sheet'];
}

/** Results written to the journal at once: one sync for many rows. */
const journalPart = 1_000;

/**
 * Creates a run: copies the manifest into a new run folder, checks every row, and writes the results of rows that are not
 * called (invalid rows and duplicates) into the journal. Other processes see the run once its record is saved; until then
 * `store.discard` undoes everything.
 *
 * @throws a usage error when the manifest is unreadable or its operation is unknown; the folder is then removed
 */
export async function createRun(store: RunStore, input: CreateRunInput): Promise<CreatedRun> {
  const { options, origin, approved, done, from } = input;
  const { id, folder } = await store.create(input.runId);
  let journal: Journal | undefined;
  try {
    const context = { ...input.input, operations: store.operations };
    const accepted = origin === undefined ? context : { ...context, sha256: origin.sha256 };
    const staged = await stageManifest(input.source, folder, accepted, options, origin?.name);
    const opened = await openJournal(journalPath(folder), { runId: id });
    journal = opened;
    const entries: JournalEntry[] = [];
    const checked = await checkManifest(store, { ...staged, options, context, done }, async (result) => {
      entries.push({ type: 'row', result });
      if (entries.length >= journalPart) await opened.append(entries.splice(0));
    });
    await opened.append(entries);
    if (from !== undefined) await writeRowNumbers(folder, from.rowNumbers);
    const histories = [...(from?.histories ?? [])];
    await opened.append(histories.map(([row, history]): JournalEntry => ({ type: 'open', row, history })));

    const { manifest, scan, choice, problems } = checked;
    const { rows, callable, invalid, leftOut, duplicates, conflicts, partial } = scan;
    const given = from?.as === 'retry' ? from.of.manifest : undefined;
    // A report uses the delimiter of the original run.
    const { delimiter } = from?.of.manifest ?? manifest;
    const record: RunRecord = {
      version: 1,
      id,
      key: randomUUID(),
      state: 'planned',
      states: [stateEntry('planned', input.attribution)],
      manifest: {
        name: from?.as === 'undo' ? `undo of ${from.of.id}` : (given?.name ?? staged.name),
        file: basename(staged.path),
        sha256: staged.sha256,
        ...(given !== undefined && { givenSha256: given.givenSha256 ?? given.sha256 }),
        bytes: staged.bytes,
        ...(delimiter !== undefined && { delimiter }),
      },
      plan: {
        ...{ rows, callable, invalid, duplicates, conflicts, partial },
        ...(leftOut > 0 && { leftOut }),
        columns: [...scan.columns],
        operations: Object.keys(scan.perOperation),
      },
      options: { ...options, ...(done !== undefined && { skipDone: [...done.sources] }) },
      ...(approved && { approval: approvalOf(approved) }),
      ...(origin && { keepUntil: resolve(origin.keepUntil) }),
      ...(from !== undefined && {
        ...(from.as === 'retry' ? { retryOf: from.of.id } : { undoOf: from.of.id }),
        rowNumbers: rowNumbersFile,
      }),
    };
    if (approved !== undefined)
      await writeFileAtomically(join(folder, approvedPlanFile), planFileText(approved));
    const { sheet } = manifest;
    return { record, journal, scan, choice, problems, ...(sheet && { sheet }) };
  } catch (error) {
    await journal?.close().catch(() => {});
    await store.discard(id).catch(() => {});
    throw error;
  }
}

function approvalOf({ file, sha256, made_at: madeAt, approved_by: by }: ApprovedPlan) {
  return { file: basename(file), sha256, madeAt, ...(by !== undefined && { by }) };
}

/** Removes a run that was planned but never started. */
export async function discard(store: RunStore, record: RunRecord, journal: Journal): Promise<void> {
  await journal.close();
  await store.discard(record.id);
}
