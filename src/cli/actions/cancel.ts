import { setTimeout as sleep } from 'node:timers/promises';
import { fatalError, usageError } from '../../errors.ts';
import { requestCancel } from '../../run/cancel-request.ts';
import { actualState, type RunRecord } from '../../run/record.ts';
import { reportRun } from '../../run/report-run.ts';
import { openRunStore, type RunStore } from '../../run/store.ts';
import { cancelStoppedRun } from '../../worker/cancel-run.ts';
import { type CommonFlags, stateDirOf } from '../config/load.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { summaryText } from '../render/summary.ts';
import { openTerminal } from '../terminal.ts';
import { withJournalReader } from './look.ts';
import { nextCommands, reportDocument } from './next-commands.ts';

/** A run that is told to stop waits for its calls in flight, then writes its report. */
const patienceMs = 120_000;
const pollMs = 200;

/** `cqbatch cancel`: gives a run up for good. */
export async function cancel(id: string | undefined, flags: CommonFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = openRunStore(stateDirOf(flags));
  const record = await store.load(id);
  const state = actualState(record);
  if (state === 'completed' || state === 'cancelled') {
    throw usageError('RUN_ENDED', `Run ${record.id} is ${state} already.`);
  }
  let cancelled: RunRecord;
  if (state === 'running') {
    await requestCancel(store.folder(record.id));
    terminal.say(`Asked process ${record.process?.pid} to stop; calls in flight may finish.`);
    cancelled = await ended(store, record);
  } else {
    cancelled = await cancelStoppedRun(store, record);
  }
  const reports = await withJournalReader(store, cancelled, (journal) =>
    reportRun(store, cancelled, journal),
  );
  const { summary, paths } = reports;
  terminal.result(
    reportDocument(cancelled, reports),
    summaryText(summary, paths, nextCommands(cancelled, summary)),
  );
  return exitCodes.success;
}

/** Waits until the process that works on the run has left it. */
async function ended(store: RunStore, { id, process }: RunRecord): Promise<RunRecord> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(pollMs)) {
    const record = await store.load(id);
    const state = actualState(record);
    if (state === 'interrupted' && record.state === 'running') return await cancelStoppedRun(store, record);
    if (state !== 'running') return record;
  }
  throw fatalError(
    'CANCEL_UNANSWERED',
    `Process ${process?.pid} has not stopped run ${id} within two minutes; end it by hand, then cancel again.`,
  );
}
