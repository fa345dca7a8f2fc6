import type { Logger } from 'pino';
import type { Attribution } from '../actor.ts';
import type { ApiClient } from '../api/client.ts';
import type { Member } from '../cluster/member.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult } from '../domain.ts';
import type { CqbatchError } from '../errors.ts';
import type { PaceReport, StartingPoint } from '../pace.ts';
import type { RowTask } from '../queue/payload.ts';
import { usualConcurrency } from '../rate/rate-controller.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';
import { withReleases } from '../releases.ts';
import { after, onAbort, orAborted } from '../waiting.ts';
import { ApiWorker } from '../worker/api-worker.ts';
import type { AskAfterCanary } from './canary.ts';
import type { CommandWatch } from './control-command.ts';
import { Coordinator, type CoordinatorEnd } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';
import { FailureGuard, type FailureHalt } from './guards.ts';
import type { OpenRun } from './open-run.ts';
import type { RunEvent } from './progress.ts';

/** Why a run that was worked on here came to its end. */
export type RunEnd =
  | { readonly state: 'completed' }
  | { readonly state: 'interrupted' }
  | { readonly state: 'cancelled'; readonly attribution: Attribution }
  /** More rows failed than the user allows. */
  | { readonly state: 'halted'; readonly because: 'threshold'; readonly halt: FailureHalt }
  /** The user, or what failed in it, did not let the run go on after its canary. */
  | { readonly state: 'halted'; readonly because: 'canary'; readonly reason: string }
  /**
   * No row can succeed: wrong token, wrong base URL, no permission, an API that is away. Or the worker of this process met
   * rows that it does not understand, or came to a standstill.
   */
  | { readonly state: 'halted'; readonly because: 'stuck'; readonly reason: CqbatchError };

/** How a process works on a run. */
export interface RunContext {
  /** Calls the API; without it, workers elsewhere must. */
  readonly client: ApiClient | undefined;
  readonly log: Logger;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Decides whether the run goes on after its canary. Default: that depends on what failed in it. */
  readonly askAfterCanary?: AskAfterCanary;
  /** Whether an interrupt leaves the run to another coordinator. Default: it ends there, to be resumed. */
  readonly handOver?: boolean;
}

export interface RunHereOptions extends RunContext {
  /** Workers that call the API, on all machines. */
  readonly workers: () => number;
  /** The rows without a result that may be called now, as it stands when they are asked for. */
  readonly tasks: () => AsyncIterable<RowTask>;
  /**
   * Called when all of these have their results, and nothing of the run is in the datastore.
   *
   * @param signal aborts when the run ends meanwhile
   * @returns how the run ends; undefined: there are more tasks now
   */
  readonly onDone: (signal: AbortSignal) => Promise<RunEnd | undefined>;
  readonly commands: CommandWatch;
  /** Makes the worker of this run one of those of the API. */
  readonly join: () => Member;
  /** What earlier runs have found of the API. */
  readonly known?: StartingPoint | undefined;
  readonly onEvent: (event: RunEvent) => void;
  readonly onPace: (pace: PaceReport, inFlight: CallsInFlight | undefined) => void;
}

/** How long calls in flight are waited for when a run stops before its end. */
const shutdownMs = 10_000;
const endedPollMs = 50;
/** Rows between two clean-ups of the datastore. */
const maintainEvery = 20_000;

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
  const { log, interrupt, commands, onEvent } = options;
  const { id } = run.record;
  const givenUp = datastoreGivenUp(run.datastore, interrupt);
  const guard = new FailureGuard(run.record.options);
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
      commands.until('unpause', 'cancel'),
      AbortSignal.any([interrupt, run.lost]),
    );
    run.lost.throwIfAborted();
    if (wanted === undefined) return { state: 'interrupted' };
    const { command, ...attribution } = wanted;
    if (command === 'cancel') return { state: 'cancelled', attribution };
    onEvent({ type: 'paused', paused: false, attribution });
  }
}

/** What comes when all rows that may be called have their results; the user may end the run meanwhile. */
async function afterTasks(run: OpenRun, options: RunHereOptions): Promise<RunEnd | undefined> {
  const { interrupt, commands, onDone } = options;
  const stopping = AbortSignal.any([interrupt, run.lost]);
  const cancelling = new AbortController();
  const cancelled = commands.until('cancel').then(({ command: _, ...attribution }): RunEnd => {
    cancelling.abort();
    return { state: 'cancelled', attribution };
  });
  const signal = AbortSignal.any([stopping, cancelling.signal]);
  const ended = Promise.race([cancelled, onDone(signal)]).then((end) => ({ end }));
  const answer = await orAborted(ended, stopping);
  run.lost.throwIfAborted();
  return answer === undefined ? { state: 'interrupted' } : answer.end;
}

/** Why work on a run stops, for good or for a while. */
type StopReason =
  | RunEnd
  | { readonly state: 'paused'; readonly attribution: Attribution }
  | { readonly state: 'rows-lost' }
  | { readonly state: 'again' };

/** The work on a run from when it begins, or goes on, to when it has been left: see `runHere`. */
class WorkingSpell {
  readonly #run: OpenRun;
  readonly #options: RunHereOptions;
  readonly #guard: FailureGuard;
  readonly #window: FeedWindow;
  /** Aborts when leaving need not wait for the datastore any longer. */
  readonly #givenUp: AbortSignal;
  #coordinator: Coordinator | undefined;
  #worker: ApiWorker | undefined;
  #state: { readonly mode: 'working' } | { readonly mode: 'leaving'; readonly reason: StopReason } = {
    mode: 'working',
  };
  #sinceMaintenance = 0;

  constructor(run: OpenRun, options: RunHereOptions, guard: FailureGuard, givenUp: AbortSignal) {
    this.#run = run;
    this.#options = options;
    this.#guard = guard;
    this.#givenUp = givenUp;
    const { concurrency, rate } = run.record.options;
    this.#window = new FeedWindow({
      concurrency: concurrency === 'auto' ? usualConcurrency : concurrency,
      ...(rate?.perSecond !== undefined && { ratePerSecond: rate.perSecond }),
      workers: options.workers,
      unfinished: () => run.record.plan.rows - run.journal.finishedCount,
    });
  }

  untilLeft(): Promise<StopReason> {
    const { tasks, interrupt, commands, client } = this.#options;
    return withReleases(async (atEnd) => {
      const coordinator = await Coordinator.start(this.#run, {
        tasks: tasks(),
        window: this.#window,
        onCollected: (results) => this.#collected(results),
        onError: this.#onError,
      });
      this.#coordinator = coordinator;
      atEnd(() => this.#close(coordinator));
      if (client !== undefined) this.#worker = this.#startWorker(client);
      atEnd(onAbort(interrupt, () => this.#leave({ state: 'interrupted' })));
      void commands
        .until('pause', 'cancel')
        .then(({ command, ...attribution }) =>
          this.#leave({ state: command === 'cancel' ? 'cancelled' : 'paused', attribution }),
        );

      const end = reasonOf(await coordinator.run());
      const reason = end.state === 'completed' ? end : this.#leave(end);
      return (await orAborted(this.#left(coordinator, reason), this.#givenUp)) ?? { state: 'interrupted' };
    });
  }

  /** The first reason counts. */
  #leave(reason: StopReason): StopReason {
    if (this.#state.mode === 'working') {
      this.#state = { mode: 'leaving', reason };
      this.#worker?.pause();
      this.#coordinator?.stop();
    }
    return this.#state.reason;
  }

  async #left(coordinator: Coordinator, reason: StopReason): Promise<StopReason> {
    const { interrupt, handOver } = this.#options;
    const stopped = this.#worker?.stop(shutdownMs);
    const isInterrupted = reason.state === 'interrupted';
    // Other machines need not wait for the calls of this one to hear of it.
    if (this.#run.datastore.exclusive || (isInterrupted && handOver)) await stopped;
    if (isInterrupted && handOver) return reason;
    // Calls that other machines are making are waited for as long as the user likes.
    const limit = isInterrupted ? AbortSignal.timeout(2 * shutdownMs) : interrupt;
    const [isThrough] = await Promise.all([coordinator.drain(limit), stopped]);
    // Somebody else is still calling a row: the run can't end, but it can be gone on with.
    if (!isThrough) return { state: 'interrupted' };
    return this.#isPointless(reason) ? { state: 'completed' } : reason;
  }

  /** Whether a run halts when nothing is left to be called. */
  #isPointless(reason: StopReason): boolean {
    const { record, journal } = this.#run;
    const isGuard = reason.state === 'halted' && reason.because === 'threshold';
    return isGuard && journal.finishedCount === record.plan.rows;
  }

  async #close(coordinator: Coordinator): Promise<void> {
    const { lost } = this.#run;
    const stopped = this.#worker?.stop(shutdownMs) ?? Promise.resolve();
    const closed = stopped.then(() => coordinator.close());
    // BullMQ waits for a datastore that is gone for good, and for one that is away; calls in flight end as usual.
    await orAborted(closed, AbortSignal.any([lost, this.#givenUp]));
    const until = performance.now() + shutdownMs;
    while (lost.aborted && (this.#worker?.active ?? 0) > 0 && performance.now() < until)
      await after(endedPollMs);
  }

  #startWorker(client: ApiClient): ApiWorker {
    const { record, datastore, rows } = this.#run;
    const { log, known, join, onEvent, onPace } = this.#options;
    const { baseUrl, maxOutageMs, concurrency } = record.options;
    return new ApiWorker({
      datastore,
      rows,
      client,
      baseUrl,
      maxOutageMs,
      concurrency,
      member: join(),
      known,
      log,
      onEvent: (event) => {
        if (event.run !== record.id) return;
        if (event.type !== 'finished') return onEvent(event);
        this.#window.finished();
        this.#haltIf(this.#guard.finished(event.result));
        // On a shared datastore a result counts once it is collected: another machine's does not show before.
        if (datastore.exclusive) onEvent(event);
      },
      onPace: (pace, { concurrency, inFlight }) => {
        this.#window.concurrency = concurrency;
        onPace(pace, inFlight);
      },
      onHalt: (reason) => void this.#leave({ state: 'halted', because: 'stuck', reason }),
      onError: this.#onError,
    });
  }

  #haltIf(halt: FailureHalt | undefined): void {
    if (halt !== undefined) this.#leave({ state: 'halted', because: 'threshold', halt });
  }

  async #collected(results: readonly RowResult[]): Promise<void> {
    const { datastore } = this.#run;
    this.#haltIf(this.#guard.collected(results));
    // Other machines can't tell this one what they have finished before it is collected.
    if (!datastore.exclusive)
      for (const result of results) this.#options.onEvent({ type: 'finished', result });
    this.#sinceMaintenance += results.length;
    if (this.#sinceMaintenance < maintainEvery) return;
    this.#sinceMaintenance = 0;
    await datastore.maintain();
  }

  readonly #onError = ({ message }: Error): void => {
    this.#options.log.warn({ run: this.#run.record.id, err: message }, 'datastore error');
  };
}

function reasonOf(end: CoordinatorEnd): StopReason {
  if (end === 'rows-lost' || end === 'again') return { state: end };
  return { state: end === 'done' ? 'completed' : 'interrupted' };
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
