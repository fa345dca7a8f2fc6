import { withScope } from '../../base/async/scope.ts';
import { poll } from '../../base/async/waiting.ts';
import { CqbatchError, fatalError, usageError } from '../../base/errors/errors.ts';
import { count, counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import type { Attribution } from '../../domain/actor.ts';
import { apiText } from '../../domain/terms.ts';
import { isActive, isPresent } from '../../engine/cluster/entries.ts';
import { factsOfEntry, factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import type { RunFacts } from '../../engine/run/facts/run-facts.ts';
import { cancelSettledRun, cancelStoppedRun } from '../../engine/run/feed/reconcile.ts';
import { endFactsOf, isFinalState } from '../../engine/run/record/ending.ts';
import { actualState, type RunRecord } from '../../engine/run/record/record.ts';
import { controlsInCluster, controlsInFolder } from '../../engine/run/work/control.ts';
import { type FoundRun, runInProgress, withRun } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { interruptible, sayStopping } from '../interrupt.ts';
import { warningOfLasting } from '../terminal.ts';
import { attributionOf } from './options.ts';
import { printNewReport } from './report.ts';

/** How long `cancel` waits for the run to write its report, after its calls in flight. */
const cancelWaitMs = 120_000;

export async function cancel(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const { store } = context;
  const attribution = attributionOf(context);
  return withRun(context, id, runInProgress, async (found) => {
    const facts =
      'entry' in found
        ? factsOfEntry(found.entry, undefined)
        : await factsOfRecord(store, found.record, undefined);
    refuseEnded(facts.id, facts.state);
    if (!(await isConfirmed(context, facts))) return exitCodes.usage;
    await ('entry' in found
      ? cancelElsewhere(context, found, attribution)
      : cancelHere(context, facts.id, attribution));
    return exitCodes.success;
  });
}

async function cancelHere(context: Context, id: string, attribution: Attribution): Promise<void> {
  const { terminal, store } = context;
  // Load the record again: the state may have changed while the user answered.
  const record = await store.load(id);
  const state = actualState(record);
  refuseEnded(id, state);
  const ask = () =>
    controlsInFolder(store.folder(id)).writeControl({ kind: 'command', command: 'cancel', ...attribution });
  if (isActive(state)) {
    await ask();
    terminal.say(`Asked process ${record.process?.pid} to stop; calls in flight may finish.`);
    await printNewReport(terminal, store, await stoppedRun(context, record, attribution));
    return;
  }
  const cancelled = await cancelStopped(context, record, attribution).catch(async (error: unknown) => {
    const isHeld = error instanceof CqbatchError && error.code === 'DATASTORE_LOCKED';
    if (!isHeld) throw error;
    if (state !== 'submitted') {
      const settled = await cancelSettledRun(store, id, attribution);
      if (settled === undefined) throw error;
      return settled;
    }
    // Ask the daemon that has the embedded datastore: it works on another run, and cancels this run afterwards.
    await ask();
    return undefined;
  });
  if (cancelled !== undefined) await printNewReport(terminal, store, cancelled);
  else {
    const text = `Run ${id} will be cancelled when its turn comes: the daemon works on other runs first.`;
    terminal.result({ run: id, state: 'submitted' }, text);
  }
}

async function isConfirmed({ terminal, flags: { yes } }: Context, run: RunFacts): Promise<boolean> {
  const { id, manifest, state, rows, done } = run;
  const sentence = endFactsOf(run)?.sentence ?? `is ${state}`;
  if (!yes)
    terminal.warn(
      `Run ${id} of ${escapeInvisible(manifest)} on ${apiText(run)} ${sentence}: ${count(done)} of ${counted(rows, 'row')} done.`,
    );
  const question = `Cancel run ${id} permanently? ${counted(rows - done, 'row')} will not be called.`;
  if (await terminal.agrees(question, yes)) return true;
  terminal.result({ run: id, state: 'declined' }, `Run ${id} is unchanged.`);
  return false;
}

function refuseEnded(id: string, state: string): void {
  if (isFinalState(state)) throw usageError('RUN_ENDED', `Run ${id} is already ${state}.`);
}

async function cancelStopped(
  context: Context,
  record: RunRecord,
  attribution: Attribution,
): Promise<RunRecord> {
  const { terminal, store, datastore } = context;
  return withScope(async (defer) => {
    const interrupt = interruptible(sayStopping(terminal));
    defer(() => interrupt.release());
    const openDatastore = await datastore.open(`cancel ${record.id}`, defer);
    const options = { signal: interrupt.signal, onError: warningOfLasting(terminal) };
    const cancelled = await cancelStoppedRun(store, record, openDatastore, options, attribution);
    if (cancelled !== undefined) return cancelled;
    throw fatalError(
      'CANCEL_INTERRUPTED',
      `Workers are still calling rows of run ${record.id}, so it was not cancelled: try again.`,
    );
  });
}

async function stoppedRun(
  context: Context,
  { id, process }: RunRecord,
  attribution: Attribution,
): Promise<RunRecord> {
  const stopped = await poll(cancelWaitMs, async () => {
    const record = await context.store.load(id);
    return isActive(actualState(record)) ? undefined : record;
  });
  if (stopped === undefined) {
    throw fatalError(
      'CANCEL_UNANSWERED',
      `Process ${process?.pid} did not stop run ${id} within two minutes; stop the process, then cancel again.`,
    );
  }
  // If the record is still active, the process died before it read the request: cancel the run here.
  return isActive(stopped.state) ? cancelStopped(context, stopped, attribution) : stopped;
}

async function cancelElsewhere(
  context: Context,
  { entry: { id, state, coordinator }, cluster }: Extract<FoundRun, { readonly entry: unknown }>,
  attribution: Attribution,
): Promise<void> {
  await controlsInCluster(cluster, id).writeControl({ kind: 'command', command: 'cancel', ...attribution });
  context.terminal.say(`Asked ${coordinator.host} to stop run ${id}; calls in flight may finish.`);
  const changed = await poll(cancelWaitMs, async () => {
    const now = await cluster.run(id);
    return now === undefined || now.state !== state || !isPresent(now) ? { state: now?.state } : undefined;
  });
  if (changed?.state !== 'cancelled') {
    throw fatalError(
      'CANCEL_UNANSWERED',
      `No process coordinates run ${id} at the moment. It will be cancelled as soon as one does; or type "cqbatch cancel ${id}" ` +
        `on ${coordinator.host}, where its state folder is.`,
    );
  }
  context.terminal.result(
    { run: id, state: changed.state },
    `Run ${id} is cancelled. Its report is on ${coordinator.host}; there, "cqbatch report ${id}" says what to do next.`,
  );
}
