import type { Datastore } from '../datastore/datastore.ts';
import { after, onAbort, orAborted } from '../waiting.ts';
import { FailureGuard } from './guards.ts';
import type { OpenRun } from './open-run.ts';
import { interruptedBy, type RunEnd } from './run-end.ts';
import { type RunHereOptions, shutdownMs, WorkingSpell } from './working-spell.ts';

/**
 * Works on a run in this process until its end: feeds its rows, calls the API, collects the results. It begins with
 * what the datastore holds of the run. Afterwards the datastore holds nothing of it, unless it is handed over or
 * another machine is still calling one of its rows.
 *
 * ```
 *    ┌──(rows lost, rows that only the manifest knows)──┐
 *    ▼                                                  │
 * working ──(any reason to stop)──▶ leaving ────────────┴──▶ ended
 *    ▲                                 └──(pause)──▶ paused ──┘ (cancel, interrupt)
 *    └──────────────(unpause)────────────────────────┘
 * ```
 *
 * - **working**: a coordinator feeds, and an API worker calls, if there is a client.
 * - **leaving**: nothing is fed or claimed. Calls in flight are waited for; then what the datastore holds is drained.
 * - **paused**: the datastore holds nothing of the run, and nothing of it is open but the journal.
 *
 * @throws a fatal error when the datastore or the disk fails; the journal then tells what was done before.
 */
export async function runHere(run: OpenRun, options: RunHereOptions): Promise<RunEnd> {
  const { log, interrupt, deadline, controls, onEvent } = options;
  const { id } = run.record;
  const givenUp = datastoreGivenUp(run.datastore, interrupt);
  const guard = new FailureGuard(run.record.options, run.journal.failures);
  for (;;) {
    const reason = await new WorkingSpell(run, options, guard, givenUp).untilLeft();
    if (reason.state === 'again') continue;
    if (reason.state === 'rows-lost') {
      log.error({ run: id }, 'the datastore has lost rows: they are fed again, marked unclear');
      continue;
    }
    const end = reason.state === 'completed' ? await afterTasks(run, options) : reason;
    if (end === undefined) continue;
    if (end.state !== 'paused') {
      log.info({ run: id, state: end.state }, 'run ended');
      return end;
    }
    log.info({ run: id }, 'run paused');
    onEvent({ type: 'paused', paused: true, attribution: end.attribution });
    const wanted = await orAborted(
      controls.until('unpause', 'cancel'),
      AbortSignal.any([interrupt, run.lost, deadline]),
    );
    run.lost.throwIfAborted();
    if (wanted === undefined) return interruptedBy(options);
    const { command, ...attribution } = wanted;
    if (command === 'cancel') return { state: 'cancelled', attribution };
    onEvent({ type: 'paused', paused: false, attribution });
    await orAborted(options.rateInForce(), AbortSignal.any([interrupt, run.lost, deadline]));
  }
}

/** What comes when all rows that may be called have their results; the user may end the run meanwhile. */
async function afterTasks(run: OpenRun, options: RunHereOptions): Promise<RunEnd | undefined> {
  const { interrupt, deadline, controls, onDone } = options;
  const stopping = AbortSignal.any([interrupt, run.lost, deadline]);
  const cancelling = new AbortController();
  const cancelled = controls.until('cancel').then(({ command: _, ...attribution }): RunEnd => {
    cancelling.abort();
    return { state: 'cancelled', attribution };
  });
  const signal = AbortSignal.any([stopping, cancelling.signal]);
  const ended = Promise.race([cancelled, onDone(signal)]).then((end) => ({ end }));
  const answer = await orAborted(ended, stopping);
  run.lost.throwIfAborted();
  return answer === undefined ? interruptedBy(options) : answer.end;
}

/** Aborts when the user wants to leave and a shared datastore has not answered for so long that leaving can't wait for it. */
function datastoreGivenUp(datastore: Datastore, interrupt: AbortSignal): AbortSignal {
  const givingUp = new AbortController();
  const watch = async (): Promise<void> => {
    // Calls in flight may take one such time, draining what is left another; one that is away may take neither.
    for (let waited = 0; waited < 3; waited += 1) {
      await after(shutdownMs);
      if (datastore.trouble !== undefined) break;
    }
    givingUp.abort();
  };
  if (!datastore.exclusive) onAbort(interrupt, watch);
  return givingUp.signal;
}
