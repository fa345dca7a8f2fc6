import { randomUUID } from 'node:crypto';
import { basename, resolve } from 'node:path';
import type { Attribution } from '../../actor.ts';
import type { RowCode } from '../../codes.ts';
import type { RowHistory, RowResult } from '../../domain.ts';
import type { Journal, JournalEntry } from '../../journal/journal.ts';
import { openJournal } from '../../journal/open.ts';
import type { DoneBefore, DoneRows } from '../../manifest/check/done-rows.ts';
import { type ScanHandlers, type ScanSummary, scanManifest } from '../../manifest/check/scan.ts';
import type { OperationChoice } from '../../manifest/columns/operation-choice.ts';
import type { CallableRow, InvalidRow, PreparedRow } from '../../manifest/columns/row-preparer.ts';
import type { InputOptions } from '../../manifest/input.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { stageManifest } from '../../manifest/stage.ts';
import { type RunOptions, type RunRecord, stateEntry } from '../record/record.ts';
import { rowNumbersFile, writeRowNumbers } from '../record/row-numbers.ts';
import { journalPath } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import type { ApprovedPlan } from './approved-plan.ts';
import { ProblemCollector, type ProblemList } from './problem-file.ts';
import { openPlannedManifest } from './run-manifest.ts';

/** Where a manifest comes from that somebody has put elsewhere for the time of its run. */
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
  /** Who plans it, and why. */
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

/** A run that is planned but not begun; nothing has been sent. */
export interface CreatedRun {
  readonly record: RunRecord;
  readonly journal: Journal;
  readonly scan: ScanSummary;
  readonly choice: OperationChoice;
  readonly problems: ProblemList;
  /** Of a workbook. */
  readonly sheet?: Manifest['sheet'];
}

/** Results of rows that need no call are journaled in parts of so many. */
const journalPart = 1_000;

/**
 * Makes a run of a manifest: copies it into a new run folder, checks every row, and writes into the journal the results
 * of those rows that will not be called, because they are invalid or identical to an earlier one. The run exists for
 * others once its record is saved; until then `store.discard` undoes everything.
 *
 * @throws a usage error when the manifest can't be read or its operation can't be told; the folder is gone then.
 */
export async function createRun(store: RunStore, input: CreateRunInput): Promise<CreatedRun> {
  const { id, folder } = await store.create(input.runId);
  let journal: Journal | undefined;
  try {
    const context = { ...input.input, operations: store.operations };
    const staged = await stageManifest(input.source, folder, context, input.options, input.origin?.name);
    const { manifest, prepare } = await openPlannedManifest(staged.path, staged.name, input.options, context);
    journal = await openJournal(journalPath(folder), { runId: id });
    const buffer = new ResultBuffer(journal);
    const problems = new ProblemCollector(store.stateDir, staged.name);
    const { onConflict } = input.options;
    const handlers: ScanHandlers = {
      async onInvalid(row) {
        await problems.add(row);
        await buffer.add(invalidResult(row));
      },
      onDuplicate: (row, firstRow) => buffer.add(duplicateResult(row, firstRow)),
      onDone: (row, before) => buffer.add(doneResult(row, before)),
      onSuperseded: (row, lastRow) => buffer.add(supersededResult(row, lastRow)),
      ...(onConflict === 'refuse' && { onConflict: (conflict) => problems.addConflict(conflict) }),
    };
    const scan = await scanManifest(manifest, prepare, handlers, { onConflict, done: input.done });
    await buffer.flush();
    const { from } = input;
    if (from !== undefined) await writeRowNumbers(folder, from.rowNumbers);
    const histories = [...(from?.histories ?? [])];
    await journal.append(histories.map(([row, history]): JournalEntry => ({ type: 'open', row, history })));

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
        rows: scan.rows,
        callable: scan.callable,
        invalid: scan.invalid,
        ...(scan.leftOut > 0 && { leftOut: scan.leftOut }),
        duplicates: scan.duplicates,
        conflicts: scan.conflicts,
        partial: scan.partial,
        columns: [...scan.columns],
        operations: Object.keys(scan.perOperation),
      },
      options: {
        ...input.options,
        ...(input.done !== undefined && { skipDone: [...input.done.sources] }),
      },
      ...(input.approved && { approval: approvalOf(input.approved) }),
      ...(input.origin && { keepUntil: resolve(input.origin.keepUntil) }),
      ...(from !== undefined && {
        ...(from.as === 'retry' ? { retryOf: from.of.id } : { undoOf: from.of.id }),
        rowNumbers: rowNumbersFile,
      }),
    };
    const { sheet } = manifest;
    return {
      ...{ record, journal, scan, choice: prepare.choice, problems: await problems.end() },
      ...(sheet && { sheet }),
    };
  } catch (error) {
    await journal?.close().catch(() => {});
    await store.discard(id).catch(() => {});
    throw error;
  }
}

function approvalOf({ file, sha256, made_at: madeAt, approved_by: by }: ApprovedPlan) {
  return { file: basename(file), sha256, madeAt, ...(by !== undefined && { by }) };
}

/** Appends results in parts: one sync for many rows. */
class ResultBuffer {
  readonly #journal: Journal;
  #entries: JournalEntry[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async add(result: RowResult): Promise<void> {
    this.#entries.push({ type: 'row', result });
    if (this.#entries.length >= journalPart) await this.flush();
  }

  async flush(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    await this.#journal.append(entries);
  }
}

/** The result of a row for which nothing is called. */
function uncalled(
  { row, operation }: Pick<PreparedRow, 'row' | 'operation'>,
  why: Pick<RowResult, 'outcome' | 'message' | 'duplicateOf'> & { readonly code: RowCode },
): RowResult {
  return { row, operation: operation?.name ?? '', ...why, attempts: 0, unclear: false };
}

function invalidResult(row: InvalidRow): RowResult {
  const message = row.problems
    .map(
      ({ column, problem, value }) =>
        `${column === undefined ? '' : `${column}: `}${problem}${value === undefined ? '' : ` (${value})`}`,
    )
    .join('; ');
  return uncalled(row, { outcome: 'invalid', code: 'INVALID_ROW', message });
}

function duplicateResult(row: CallableRow, duplicateOf: number): RowResult {
  return uncalled(row, { outcome: 'duplicate', code: 'DUPLICATE', message: '', duplicateOf });
}

function doneResult(row: CallableRow, before: DoneBefore): RowResult {
  const message = `done before, in row ${before.row} of ${before.source}`;
  return uncalled(row, { outcome: 'skipped', code: 'DONE_BEFORE', message });
}

function supersededResult(row: CallableRow, lastRow: number): RowResult {
  const { operation, subject } = row;
  const message = `row ${lastRow}, which changes ${operation.thing} ${subject} as well, is called instead`;
  return uncalled(row, { outcome: 'skipped', code: 'SUPERSEDED', message });
}

/** Undoes a run that was planned and never begun. */
export async function discard(store: RunStore, record: RunRecord, journal: Journal): Promise<void> {
  await journal.close();
  await store.discard(record.id);
}
