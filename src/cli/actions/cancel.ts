import { setTimeout as sleep } from 'node:timers/promises';
import { isActive, isPresent, type RunEntry } from '../../cluster/entries.ts';
import { fatalError, usageError } from '../../errors.ts';
import { writeCommand } from '../../run/control-command.ts';
import { actualState, type RunRecord } from '../../run/record.ts';
import { reportRun } from '../../run/report-run.ts';
import { withJournalReader } from '../../run/run-journal.ts';
import { cancelStoppedRun } from '../../run/stopped-runs.ts';
import type { RunStore } from '../../run/store.ts';
import { type CommonFlags, loadSettings } from '../config/load.ts';
import type { RawSettings } from '../config/settings.ts';
import { chooseDatastore, type DatastoreChoice } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { interruptible, stopping } from '../interrupt.ts';
import { openState } from '../state-folder.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { findRun, withCluster } from './find-run.ts';
import { reportDocument, reportText } from './next-commands.ts';

/** A run that is told to stop waits for its calls in flight, then writes its report. */
const patienceMs = 120_000;
const pollMs = 200;

/** `cqbatch cancel`: gives a run up for good. */
export async function cancel(id: string | undefined, flags: CommonFlags & RawSettings): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const datastore = await chooseDatastore(terminal, flags, await loadSettings(flags));
  const found = await findRun(store, datastore, id);
  if ('entry' in found) return cancelElsewhere(terminal, datastore, found.entry);

  const { record } = found;
  const state = actualState(record);
  if (state === 'completed' || state === 'cancelled') {
    throw usageError('RUN_ENDED', `Run ${record.id} is ${state} already.`);
  }
  let cancelled: RunRecord;
  if (isActive(state)) {
    await writeCommand(store.folder(record.id), 'cancel');
    terminal.say(`Asked process ${record.process?.pid} to stop; calls in flight may finish.`);
    cancelled = await ended(terminal, store, datastore, record);
  } else {
    cancelled = await cancelStopped(terminal, store, datastore, record);
  }
  const reports = await withJournalReader(store, cancelled, (journal) =>
    reportRun(store, cancelled, journal),
  );
  terminal.result(reportDocument(cancelled, reports), reportText(cancelled, reports));
  return exitCodes.success;
}

/** Gives up a run that nobody works on. */
async function cancelStopped(
  terminal: Terminal,
  store: RunStore,
  datastore: DatastoreChoice,
  record: RunRecord,
): Promise<RunRecord> {
  const interrupt = interruptible(stopping(terminal));
  try {
    const cancelled = await cancelStoppedRun(store, record, datastore.open, interrupt.signal);
    if (cancelled !== undefined) return cancelled;
    throw fatalError(
      'CANCEL_INTERRUPTED',
      `Workers are still calling rows of run ${record.id}: it is as it was. Cancel it again.`,
    );
  } finally {
    interrupt.release();
  }
}

/** Waits until the process that works on the run has left it. */
async function ended(
  terminal: Terminal,
  store: RunStore,
  datastore: DatastoreChoice,
  { id, process }: RunRecord,
): Promise<RunRecord> {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(pollMs)) {
    const record = await store.load(id);
    const state = actualState(record);
    if (isActive(state)) continue;
    // Its process died before it had read the request.
    if (state === 'interrupted' && isActive(record.state))
      return await cancelStopped(terminal, store, datastore, record);
    return record;
  }
  throw fatalError(
    'CANCEL_UNANSWERED',
    `Process ${process?.pid} has not stopped run ${id} within two minutes; end it by hand, then cancel again.`,
  );
}

/** Asks the coordinator of a run, on another machine, through the datastore. */
async function cancelElsewhere(
  terminal: Terminal,
  datastore: DatastoreChoice,
  { id, state, coordinator }: RunEntry,
): Promise<ExitCode> {
  if (state === 'completed' || state === 'cancelled')
    throw usageError('RUN_ENDED', `Run ${id} is ${state} already.`);
  const entry = await withCluster(datastore, `cancel ${id}`, async (cluster) => {
    await cluster.command(id, 'cancel');
    terminal.say(`Asked ${coordinator.host} to stop run ${id}; calls in flight may finish.`);
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(pollMs)) {
      const now = await cluster.run(id);
      if (now === undefined || now.state !== state || !isPresent(now)) return now;
    }
    return undefined;
  });
  if (entry?.state !== 'cancelled') {
    throw fatalError(
      'CANCEL_UNANSWERED',
      `Nobody coordinates run ${id} at the moment. It is cancelled as soon as somebody does; or type "cqbatch cancel ${id}" ` +
        `on ${coordinator.host}, where its state folder is.`,
    );
  }
  terminal.result(
    { run: id, state: entry.state },
    `Run ${id} is cancelled. Its report is on ${coordinator.host}.`,
  );
  return exitCodes.success;
}
