import { randomUUID } from 'node:crypto';
import { basename, resolve } from 'node:path';
import type { Attribution } from '../../actor.ts';
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
import type { ApprovedPlan } from './approved-plan.ts';
import { type CheckedManifest, checkManifest } from './check-manifest.ts';

/** Where a manifest comes from that lies elsewhere during its run. */
export interface ManifestOrigin {
  /** What to call it. */
  readonly name: string;
  /** A file that is made when the manifest is put away; until then the run is kept. */
  readonly keepUntil: string;
}

export interface CreateRunInput {
  /** Path of the manifest, `-` for standard input. */
  readonly source: string;
  /** Where it comes from, if it is not just the file of that path. */
  readonly origin?: ManifestOrigin | undefined;
  readonly options: RunOptions;
  /** How the manifest is read. */
  readonly input?: InputOptions;
  /** The id that the user chose, if so. */
  readonly runId?: string | undefined;
  /** The user who plans it, and the reason. */
  readonly attribution?: Attribution;
  /** The signed-off plan that it carries out. */
  readonly approved?: ApprovedPlan | undefined;
  /** What earlier runs have done: its rows are left out. */
  readonly done?: DoneRows | undefined;
  /** The run of whose rows the manifest was made, to try them again or to put back what was before. */
  readonly from?: {
    readonly as: 'retry' | 'undo';
    readonly of: RunRecord;
    /** What the rows are called in the manifest that the user gave, in order. */
    readonly rowNumbers: readonly number[];
    /** What their attempts did, by row of the manifest. */
    readonly histories: ReadonlyMap<number, RowHistory>;
  };
}

/** A run that is planned but not started; nothing has been sent. */
export interface CreatedRun extends Pick<CheckedManifest, 'scan' | 'choice' | 'problems'> {
  readonly record: RunRecord;
  readonly journal: Journal;
  /** Of a workbook. */
  readonly sheet?: Manifest['sheet'];
}

/** Results of rows that need no call are journaled in parts of this size: one sync for many rows. */
const journalPart = 1_000;

/**
 * Makes a run of a manifest: copies it into a new run folder, checks every row, and writes into the journal the results
 * of those rows that will not be called, because they are invalid or identical to an earlier one. The run exists for
 * others once its record is saved; until then `store.discard` undoes everything.
 *
 * @throws a usage error when the manifest can't be read or its operation can't be told; the folder is gone then.
 */
export async function createRun(store: RunStore, input: CreateRunInput): Promise<CreatedRun> {
  const { options, origin, approved, done, from } = input;
  const { id, folder } = await store.create(input.runId);
  let journal: Journal | undefined;
  try {
    const context = { ...input.input, operations: store.operations };
    const staged = await stageManifest(input.source, folder, context, options, origin?.name);
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
    // Its report looks like that of the run it is of.
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

/** Removes a run that was planned and never started. */
export async function discard(store: RunStore, record: RunRecord, journal: Journal): Promise<void> {
  await journal.close();
  await store.discard(record.id);
}
