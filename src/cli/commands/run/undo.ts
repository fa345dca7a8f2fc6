import { usageError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { refuseUnlessOver, retriesAfter, retriesAmong, undosOf } from '../../../engine/run/plan/retries.ts';
import { type UndoInput, type UndoRows, writeUndoRows } from '../../../engine/run/plan/undo-run.ts';
import { actualState, isOver, type RunRecord } from '../../../engine/run/record/record.ts';
import { progressOf } from '../../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { type FittingRun, findRecord } from '../../../engine/run/work/find-run.ts';
import type { Flags } from '../../config.ts';
import { type Context, openRunContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { isPreview, requireConsentUnlessPreview, runDerived } from './derived-run.ts';
import { runWhenFree } from './run-scope.ts';

/** Undoes a run, as far as its manifest has old values. */
export async function undo(id: string | undefined, flags: Flags): Promise<ExitCode> {
  if (isPreview(flags)) return undoRun(await openRunContext(flags), id);
  return runWhenFree(flags, `undo ${id ?? ''}`.trim(), (context) => undoRun(context, id));
}

export async function undoRun(context: Context, id: string | undefined): Promise<ExitCode> {
  const { store, terminal } = context;
  requireConsentUnlessPreview(context, 'undo', id);
  const original = await findRecord(store, id, runToUndo(store));
  const runs = await store.list();
  const later = retriesAfter(retriesAmong(runs, original), original);
  const undos = undosOf(runs, original);
  refuseUnlessOver('undo', original, [...later, ...undos]);
  refuseUnlessEnded(original);
  for (const earlier of undos)
    terminal.warn(`warning: run ${earlier.id} has already undone run ${original.id}.`);
  return runDerived(context, original, 'undo', 'refuse', async (input) => {
    const laterRuns = input.lists === undefined ? otherRunsAfter(original, runs) : [];
    const undone = await writeUndoRows(store, original, later, { ...input, laterRuns });
    if (undone.scan.rows === 0) return nothingToSend(context, original, undone, input);
    terminal.say(
      `Run ${original.id} of ${escapeInvisible(original.manifest.name)}: ${counted(undone.scan.rows, 'row', ['gets its', 'get their'])} old values back`,
    );
    for (const text of remainderTexts(undone)) terminal.warn(`warning: ${text}`);
    for (const text of laterEditTexts(undone)) terminal.warn(`warning: ${text}`);
    return undone;
  });
}

/** Finds the newest run that can be undone. A retry is undone together with the run that it retries. */
function runToUndo(store: RunStore): FittingRun {
  let allRuns: Promise<readonly RunRecord[]> | undefined;
  return {
    fittingClause: 'can be undone',
    async acceptsRecord(record) {
      if (!isOver(record) || record.undoOf !== undefined || record.retryOf !== undefined) return false;
      allRuns ??= store.list();
      const runs = await allRuns;
      if (undosOf(runs, record).length > 0) return false;
      for (const run of [record, ...retriesAmong(runs, record).retries]) {
        const { succeeded, failed } = (await progressOf(store, run)).outcomes;
        if (succeeded + failed > 0) return true;
      }
      return false;
    },
    acceptsState: () => false,
    adviceForNewest: (newest) => {
      if (!isOver(newest)) return `to undo it, cancel it first: cqbatch cancel ${newest.id}`;
      return newest.undoOf === undefined ? undefined : `to undo that undo: cqbatch undo ${newest.id}`;
    },
  };
}

/** Refuses to undo a run that can be resumed: a resume would repeat the changes that the undo takes back. */
function refuseUnlessEnded(record: RunRecord): void {
  if (isOver(record)) return;
  const { id } = record;
  throw usageError(
    'RUN_NOT_ENDED',
    `Run ${id} is ${actualState(record)} and could be resumed: cancel it first ("cqbatch cancel ${id}"), then undo it.`,
  );
}

function remainderTexts({ notUndone, byHand }: UndoRows): readonly string[] {
  const texts: string[] = [];
  if (notUndone.file !== undefined) {
    const rows = counted(notUndone.rows, 'row', ['is', 'are']);
    texts.push(`${rows} not undone, or only in part: ${escapeInvisible(notUndone.file)} says why`);
  }
  if (byHand.file !== undefined) {
    const names = byHand.operations.map(({ name }) => name).join(' and ');
    const [{ thing } = { thing: 'row' }, ...others] = byHand.operations;
    const entries = counted(byHand.rows, others.length > 0 ? 'row' : thing);
    texts.push(
      `${names} can't be undone. Change ${byHand.rows === 1 ? 'this' : 'these'} ${entries} back by hand: ${escapeInvisible(byHand.file)}`,
    );
  }
  return texts;
}

/** Reports an undo without rows to call. @throws a usage error when nothing can be done by hand, either */
function nothingToSend(
  { terminal }: Context,
  { id }: RunRecord,
  undone: UndoRows,
  { lists }: Pick<UndoInput, 'lists'>,
): ExitCode {
  const { notUndone, byHand } = undone;
  const files = { not_undone: notUndone.file ?? null, by_hand: byHand.file ?? null };
  if (byHand.rows === 0) {
    const why = whyNothing(notUndone, lists !== undefined);
    throw usageError('NOTHING_TO_UNDO', `Run ${id} can't be undone: ${why}.`);
  }
  terminal.result(
    { run: id, state: 'nothing sent', undone: 0, not_undone: notUndone.rows, by_hand: byHand.rows, files },
    [...remainderTexts(undone), 'Nothing was sent.'].join('\n'),
  );
  return exitCodes.success;
}

function whyNothing({ file }: UndoRows['notUndone'], isCompared: boolean): string {
  if (file === undefined) return 'none of its rows changed anything';
  const list = escapeInvisible(file);
  return isCompared
    ? `its entries have changed since, or the old values are missing: ${list} says why, row by row. To put back entries that have changed, pass --overwrite`
    : `its rows don't have the old values (columns old_title, old_description, …): ${list} lists them`;
}

/** Runs after the original that may have changed its entries, besides its retries and undos. */
function otherRunsAfter(original: RunRecord, runs: readonly RunRecord[]): readonly RunRecord[] {
  const related = new Set([original.id, ...retriesAmong(runs, original).retries.map(({ id }) => id)]);
  return runs
    .slice(runs.findIndex(({ id }) => id === original.id) + 1)
    .filter(
      ({ id, undoOf, state, options }) =>
        !related.has(id) &&
        undoOf !== original.id &&
        state !== 'planned' &&
        options.baseUrl === original.options.baseUrl,
    );
}

function laterEditTexts({ laterEdits }: UndoRows): readonly string[] {
  return laterEdits.map(({ run, rows }) =>
    typeof rows === 'number'
      ? `run ${run} has edited some of these entries since (${counted(rows, 'row')}): the undo overwrites these edits. Undo that run first, or look at its report.`
      : `it is not known which of these entries run ${run} has edited since: ${rows.message}`,
  );
}
