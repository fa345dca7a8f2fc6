import { type CqbatchError, meaningOf } from '../../../base/errors/errors.ts';
import { systemError } from '../../../base/errors/system-error.ts';
import { resumeCommand } from '../../report/next-steps.ts';
import type { StopReason } from '../feed/coordinator.ts';
import type { RunEnding } from '../record/ending.ts';
import { endingOfHalt } from '../record/guards/guards.ts';
import { isIntact, outcomesOf, requireAllResults } from '../record/run-journal.ts';
import type { RecordedEnd, RunInProgress } from './run-in-progress.ts';

/** The end of a run, which names rows by their numbers in the user's manifest. */
export async function endOfWork(
  reason: Exclude<StopReason, { readonly state: 'paused' | 'restart' }>,
  { run, rows, options }: RunInProgress,
): Promise<RunEnding> {
  if (reason.state !== 'halt') return reason;
  options.log.warn({ run: run.record.id, guard: reason.guard }, 'a guard stops the run');
  return endingOfHalt(reason, () => rows.numbers());
}

/** Writes the end into the record. */
export async function endRun(
  { run, keeper, options, tellEvent }: RunInProgress,
  end: RunEnding,
): Promise<RecordedEnd> {
  const { record, journal } = run;
  if (end.state === 'completed') requireAllResults(record, journal);
  const { state, ...cause } = end;
  const isHandedOver = options.handOver === true && state === 'interrupted' && end.because === undefined;
  keeper.enter(isHandedOver ? 'submitted' : state, cause, {
    counts: outcomesOf(record, journal),
    unclear: journal.unclearCount,
  });
  await keeper.save();
  const ended = { end, isHandedOver };
  tellEvent({ type: 'ended', record: keeper.record, ...ended });
  return ended;
}

/**
 * Writes into the record why the run has failed.
 *
 * @returns the error to be thrown
 */
export async function failRun(inProgress: RunInProgress, thrown: unknown): Promise<unknown> {
  const { run, keeper, options, progress, tellEvent, warn } = inProgress;
  const { store, record, journal } = run;
  const error = meaningOf(thrown);
  const failure = systemError(error)?.withNextStep(resumeCommand(record)) ?? error;
  const { code } = error as CqbatchError;
  // A process that has lost the run must not overwrite what the next one has written.
  if (code === 'LOCK_LOST') tellEvent({ type: 'lost' });
  else if (!(options.handOver && code === 'JOURNAL_REMOVED')) {
    keeper.enter('failed', { reason: (failure as Error).message });
    await keeper.save().catch((unsaved: Error) => warn(unsaved, 'not saved'));
  }
  const isFolderIntact = await isIntact(store, record.id, journal);
  const counts = isFolderIntact ? outcomesOf(record, journal) : progress.snapshot().counts;
  tellEvent({ type: 'failed', counts, isFolderIntact, hasEnded: false });
  return failure;
}

/** @returns the error to be thrown, which says how to write the report again */
export async function failReport({ run, tellEvent }: RunInProgress, error: unknown): Promise<unknown> {
  const { store, record, journal } = run;
  const isFolderIntact = await isIntact(store, record.id, journal);
  tellEvent({ type: 'failed', counts: outcomesOf(record, journal), isFolderIntact, hasEnded: true });
  return systemError(error)?.withNextStep(`cqbatch report ${record.id}`) ?? error;
}
