import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ApiClient } from '../api/client.ts';
import type { Member } from '../cluster/member.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { PaceReport, StartingPoint } from '../pace.ts';
import type { RowTask } from '../queue/payload.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { usualConcurrency } from '../rate/rate-controller.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';
import { aborted, after } from '../waiting.ts';
import { type ApiWorker, startApiWorker } from '../worker/api-worker.ts';
import { stuck } from '../worker/watched-worker.ts';
import type { CommandWatch } from './control-command.ts';
import { startCoordinator } from './coordinator.ts';
import { FeedWindow } from './feed-window.ts';
import type { RunEvent } from './progress.ts';
import type { RunOptions } from './record.ts';

/** Why a run that was worked on here came to its end. */
export type RunEnd =
  | { readonly state: 'completed' }
  | { readonly state: 'interrupted' }
  | { readonly state: 'cancelled' }
  /** More rows failed than the user allows. */
  | { readonly state: 'halted'; readonly because: 'threshold' }
  /**
   * No row can succeed: wrong token, wrong base URL, no permission, an API that is away. Or the worker of this process met
   * rows that it does not understand, or came to a standstill.
   */
  | { readonly state: 'halted'; readonly because: 'stuck'; readonly reason: CqbatchError };

export interface RunHereOptions {
  readonly runId: string;
  readonly options: RunOptions;
  readonly datastore: Datastore;
  /** Resolves with the reason when the run can't go on here: the datastore is gone, or another process has taken it. */
  readonly lost: Promise<Error>;
  readonly rows: RowQueue;
  readonly journal: Journal;
  /** Rows of the manifest. */
  readonly total: number;
  /** Workers that call the API, on all machines. */
  readonly workers: () => number;
  /** The rows without a result, as it stands when they are asked for. */
  readonly tasks: () => AsyncIterable<RowTask>;
  /** Calls the API; without it, workers elsewhere must. */
  readonly client: ApiClient | undefined;
  readonly commands: CommandWatch;
  /** Makes the worker of this run one of those of the API. */
  readonly join: () => Member;
  /** What earlier runs have found of the API. */
  readonly known?: StartingPoint | undefined;
  readonly log: Logger;
  readonly onEvent: (event: RunEvent) => void;
  readonly onPace: (pace: PaceReport, inFlight: CallsInFlight | undefined) => void;
  /** Aborts when the user wants the run to stop. */
  readonly interrupt: AbortSignal;
  /** Whether what the datastore holds stays there after an interrupt, for another coordinator. */
  readonly handOver: boolean;
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
 * @throws a fatal error when the datastore or the disk fails; the journal then tells what was done before.
 */
export async function runHere(run: RunHereOptions): Promise<RunEnd> {
  const interrupted = aborted(run.interrupt);
  const givenUp = interrupted.then(() => datastoreAway(run.datastore));
  for (;;) {
    const end = await workUntilStopped(run, givenUp);
    if (end.state === 'again') continue;
    if (end.state === 'rows-lost') {
      run.log.error({ run: run.runId }, 'the datastore has lost rows: they are fed again, marked unclear');
      continue;
    }
    if (end.state !== 'paused') {
      run.log.info({ run: run.runId, state: end.state }, 'run ended');
      return end;
    }
    run.log.info({ run: run.runId }, 'run paused');
    run.onEvent({ type: 'paused', paused: true });
    const next = await Promise.race([run.commands.until('unpause', 'cancel'), interrupted, run.lost]);
    if (next instanceof Error) throw next;
    if (next !== 'unpause') return { state: next === 'cancel' ? 'cancelled' : 'interrupted' };
    run.onEvent({ type: 'paused', paused: false });
  }
}

type Stop =
  | RunEnd
  | { readonly state: 'paused' }
  | { readonly state: 'rows-lost' }
  | { readonly state: 'again' };

/** @param givenUp resolves when the user wants to leave and the datastore need not be waited for any longer. */
async function workUntilStopped(run: RunHereOptions, givenUp: Promise<RunEnd>): Promise<Stop> {
  const { options, log, datastore, client } = run;
  const window = new FeedWindow({
    concurrency: options.concurrency === 'auto' ? usualConcurrency : options.concurrency,
    ...(options.rate?.perSecond !== undefined && { ratePerSecond: options.rate.perSecond }),
    workers: run.workers,
    unfinished: () => run.total - run.journal.finishedCount,
  });
  const onError = (error: Error): void => {
    log.warn({ run: run.runId, err: error.message }, 'datastore error');
  };
  let stopped: Stop | undefined;
  let caller: ApiWorker | undefined;
  const stop = (reason: Stop): void => {
    stopped ??= reason;
    caller?.pause();
    coordinator.stop();
  };

  const halt = (reason: CqbatchError): void => stop({ state: 'halted', because: 'stuck', reason });
  let sinceMaintenance = 0;
  const coordinator = await startCoordinator({
    runId: run.runId,
    datastore,
    lost: run.lost,
    rows: run.rows,
    journal: run.journal,
    tasks: run.tasks(),
    window,
    policy: { attempts: options.attempts, backoffMs: options.backoffMs },
    ...(options.maxFailures !== undefined && { maxFailures: options.maxFailures }),
    onCollected: async (results) => {
      // Other machines can't tell this one what they have finished before it is collected.
      if (!datastore.exclusive) for (const result of results) run.onEvent({ type: 'finished', result });
      sinceMaintenance += results.length;
      if (sinceMaintenance < maintainEvery) return;
      sinceMaintenance = 0;
      await datastore.maintain();
    },
    onError,
  });
  if (client !== undefined) {
    caller = startApiWorker({
      datastore,
      rows: run.rows,
      client,
      baseUrl: options.baseUrl,
      maxOutageMs: options.maxOutageMs,
      concurrency: options.concurrency,
      member: run.join(),
      known: run.known,
      log,
      onEvent(event) {
        if (event.run !== run.runId) return;
        if (event.type !== 'finished') return run.onEvent(event);
        window.finished();
        // On a shared datastore a result counts once it is collected: another machine's does not show before.
        if (datastore.exclusive) run.onEvent(event);
      },
      onPace(pace, { concurrency, inFlight }) {
        window.concurrency = concurrency;
        run.onPace(pace, inFlight);
      },
      onHalt: halt,
      onRefused: halt,
      onStuck: () => halt(stuck()),
      onError,
    });
  }

  const interrupted = (): void => stop({ state: 'interrupted' });
  run.interrupt.addEventListener('abort', interrupted, { once: true });
  if (run.interrupt.aborted) interrupted();
  void run.commands
    .until('pause', 'cancel')
    .then((command) => stop({ state: command === 'cancel' ? 'cancelled' : 'paused' }));
  try {
    const reached = await coordinator.end;
    if (reached === 'exceeded') stop({ state: 'halted', because: 'threshold' });
    if (reached === 'rows-lost' || reached === 'again') stop({ state: reached });
    const end: Stop = reached === 'done' ? { state: 'completed' } : (stopped ?? { state: 'interrupted' });
    return await Promise.race([leave(end), givenUp]);
  } finally {
    run.interrupt.removeEventListener('abort', interrupted);
    caller?.pause();
    const closed = (caller?.stop(shutdownMs) ?? Promise.resolve()).then(() => coordinator.close());
    // BullMQ waits for a datastore that is gone for good, and for one that is away; calls in flight end as usual.
    await Promise.race([closed, run.lost.then(() => callsEnded(caller)), givenUp]);
  }

  async function leave(end: Stop): Promise<Stop> {
    await caller?.stop(shutdownMs);
    if (end.state === 'interrupted' && run.handOver) return end;
    const through = await coordinator.withdraw(patience(run, end));
    // Somebody else is still calling a row: the run can't end, but it can be gone on with.
    return through ? end : { state: 'interrupted' };
  }
}

/** Waits for calls in flight as long as `ApiWorker.stop` does. */
async function callsEnded(caller: ApiWorker | undefined): Promise<void> {
  const until = performance.now() + shutdownMs;
  while (caller !== undefined && caller.active > 0 && performance.now() < until) await pause(endedPollMs);
}

/** How long calls that other machines are making are waited for: as long as the user likes. */
function patience({ interrupt }: RunHereOptions, end: Stop): AbortSignal {
  return end.state === 'interrupted' ? AbortSignal.timeout(shutdownMs) : interrupt;
}

/** Resolves when a shared datastore has not answered for so long that leaving can't wait for it. */
async function datastoreAway(datastore: Datastore): Promise<RunEnd> {
  if (datastore.exclusive) return new Promise(() => {});
  // Calls in flight may take one such time, taking back what is left another; one that is away may take neither.
  for (let waited = 0; waited < 3; waited += 1) {
    await after(shutdownMs);
    if (datastore.trouble !== undefined) break;
  }
  return { state: 'interrupted' };
}
