import { type Defer, withScope } from '../../../base/async/scope.ts';
import { onAbort, unlessAborted } from '../../../base/async/waiting.ts';
import { ErrorThrottle, LastingErrors } from '../../../base/errors/error-throttle.ts';
import type { StartingPoint } from '../../../domain/pace.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { type Cluster, openCluster } from '../../cluster/cluster.ts';
import type { ApiWorker } from '../../worker/api-worker.ts';
import { Coordinator, type StopReason } from '../feed/coordinator.ts';
import type { FeedWindow } from '../feed/feed-window.ts';
import { claimForOurselves } from '../feed/reconcile.ts';
import { unfinishedTasks } from '../feed/tasks.ts';
import type { RunEnding, RunPause } from '../record/ending.ts';
import { type GuardHalt, Guards } from '../record/guards/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { priorityOf } from '../record/record.ts';
import { RecordKeeper } from '../record/record-keeper.ts';
import { outcomesOf } from '../record/run-journal.ts';
import { closeWork, drain, whenStopIsOverdue } from './drain.ts';
import { openHeartbeat } from './heartbeat.ts';
import { openObserver } from './observed-run.ts';
import { startOwnWorker, windowOf } from './own-worker.ts';
import { isRowEvent, Progress } from './progress.ts';
import { acceptFailures, openRecord, recordAtWork } from './record-part.ts';
import { endOfWork, endRun, failReport, failRun } from './run-end.ts';
import type {
  ExecutedRun,
  ExecuteRunOptions,
  OpenPart,
  RecordedEnd,
  RunEvent,
  RunInProgress,
  RunPart,
  StopCommand,
  StopPhase,
} from './run-in-progress.ts';

/**
 * A run in progress in this process, from its claim to its report. Its parts (`RunPart`) take part in each phase.
 *
 * ```
 * claiming ──▶ feeding ──(a reason to stop)──▶ draining ──(the run ends)──▶ reporting
 *               ▲ ▲ ▲                           │  │  │                      ▲ ▲
 *               │ │ └──(rows lost, or left)─────┘  │  │                      │ │
 *               │ └────(unpause)──── paused ◀──────┘  │                      │ │
 *               │                     ▲└──(cancel, stop, end of the budget)──┘ │
 *               └──(next stage)── between stages ◀────┘                        │
 *                                        └──────(the last stage, or a halt)────┘
 * ```
 *
 * - **claiming**: the record says `running`, and the parts are opened.
 * - **feeding**: a coordinator feeds, and an API worker calls, if there is a client.
 * - **draining**: nothing is fed or claimed. Calls in flight finish; then the datastore holds nothing of the run, unless the run is handed
 *   over or another machine is still calling one of its rows.
 * - **paused**: only the journal is open.
 * - **between stages**: a person or the options decide about the canary, or the run pauses until a person does.
 * - **reporting**: the record has the end of the run. Its report is written, unless another process takes the run over.
 * - If the datastore, the journal or the disk fails, the record says `failed`, and `untilReported` throws.
 */
export class RunLoop implements RunInProgress {
  readonly rows: RunInProgress['rows'];
  readonly options: ExecuteRunOptions;
  readonly cluster: Cluster | undefined;
  readonly onError: (error: Error) => void;
  run: OpenRun;
  guards!: Guards;
  keeper!: RecordKeeper;
  progress!: Progress;
  readonly #openParts: readonly OpenPart[];
  readonly #parts: RunPart[] = [];
  readonly #lastingErrors: LastingErrors;
  #startingPoint: StartingPoint | undefined;
  /** Aborts when a stop must not wait for the datastore any longer. */
  readonly #stopWaiting: AbortSignal;
  /** Aborts with the reason to stop feeding. */
  #stopFeeding = new AbortController();
  #window!: FeedWindow;
  #coordinator: Coordinator | undefined;
  #worker: ApiWorker | undefined;

  constructor(
    run: OpenRun,
    rows: RunInProgress['rows'],
    options: ExecuteRunOptions,
    openParts: readonly OpenPart[],
  ) {
    const errors = new ErrorThrottle();
    this.run = run;
    this.rows = rows;
    this.options = options;
    this.cluster = run.datastore.runScript === undefined ? undefined : openCluster(run.datastore);
    this.#openParts = openParts;
    this.#lastingErrors = options.lastingErrors ?? new LastingErrors();
    this.#stopWaiting = whenStopIsOverdue(run.datastore, options.interrupt);
    this.onError = (error) => {
      this.#lastingErrors.see(error);
      if (errors.isNews(error)) this.warn(error, 'datastore error');
    };
  }

  /** @throws a fatal error when the datastore or the disk fails; the journal says what was done before */
  async untilReported(defer: Defer): Promise<ExecutedRun> {
    await this.#claim(defer);
    const end = await this.#untilEnd(defer).catch(async (error: unknown) => {
      throw await failRun(this, error);
    });
    return this.#report(end);
  }

  readonly troubleText = (): string | undefined => {
    const text = this.run.datastore.trouble ?? this.#lastingErrors.text;
    return text ?? this.#parts.map((part) => part.delayReason?.()).find((delay) => delay !== undefined);
  };

  readonly tellEvent = (event: RunEvent): void => {
    if (event.type === 'pace') this.progress.seePace(event.pace, event.inFlight);
    else if (isRowEvent(event)) this.progress.see(event);
    for (const part of this.#parts) part.seeEvent?.(event);
    this.options.onEvent?.(event);
  };

  readonly warn = ({ message }: Error, what: string): void => {
    this.options.log.warn({ run: this.run.record.id, err: message }, what);
  };

  async #claim(defer: Defer): Promise<void> {
    const { datastore, journal, store, lost } = this.run;
    const { interrupt, attribution, queue, estimates } = this.options;
    this.#parts.push(await openObserver(this, defer));
    if (datastore.exclusive) await claimForOurselves(this.run, { signal: interrupt, onError: this.onError });
    const record = await acceptFailures(this.run);
    this.run = { ...this.run, record };
    this.keeper = new RecordKeeper(store, recordAtWork(this.run, this.options));
    defer(() => this.keeper.close());
    onAbort(lost, () => this.keeper.close());
    this.progress = new Progress({
      rows: record.plan.rows,
      counts: outcomesOf(record, journal),
      timeoutMs: record.options.timeoutMs,
    });
    this.guards = new Guards(record.options, journal.failures);
    this.#startingPoint = await estimates?.load();
    this.keeper.enter('running', attribution, queue === undefined ? {} : { queue });
    for (const open of [openRecord, openHeartbeat]) this.#parts.push(await open(this, defer));
    await this.keeper.save();
  }

  async #untilEnd(defer: Defer): Promise<RecordedEnd> {
    this.tellEvent({ type: 'started', progress: this.progress, trouble: this.troubleText });
    for (const open of this.#openParts) this.#parts.push(await open(this, defer));
    for (;;) {
      const end = await this.#endAfterReason(await this.#feed());
      if (end === undefined) continue;
      this.options.log.info({ run: this.run.record.id, state: end.state }, 'run ended');
      this.tellEvent({ type: 'called' });
      for (const part of this.#parts) await part.finish?.();
      return endRun(this, end);
    }
  }

  #feed(): Promise<StopReason> {
    const { record, journal, lost } = this.run;
    return withScope(async (defer) => {
      this.#stopFeeding = new AbortController();
      [this.#coordinator, this.#worker] = [undefined, undefined];
      defer(this.#onStop('feeding', (command) => command.state !== 'unpaused' && this.#stop(command)));
      const stopping = AbortSignal.any([this.#stopFeeding.signal, lost]);
      for (const part of this.#parts) await part.beforeFeeding?.(stopping, defer);
      this.#window = windowOf(this);
      const selection = this.#parts.map((part) => part.selection?.()).find((each) => each !== undefined);
      const opening = Coordinator.open(this.run, {
        resultsOfUncalledRows: (held) => this.#resultsWithoutCall(held),
        tasks: unfinishedTasks(this.rows, journal, selection),
        window: this.#window,
        priority: () => priorityOf(this.keeper.record),
        onCollected: (results) => this.#resultsCollected(results),
        onError: this.onError,
      });
      defer(() => closeWork(this.run, { opening, worker: this.#worker, givenUp: this.#stopWaiting }));
      const coordinator = await unlessAborted(opening, AbortSignal.any([lost, this.#stopWaiting]));
      lost.throwIfAborted();
      if (coordinator === undefined) return { state: 'interrupted' };
      this.#coordinator = coordinator;
      this.#haltIf(this.guards.judge());
      // The run may have been told to stop while its coordinator was opened.
      if (this.#stopFeeding.signal.aborted) coordinator.end(this.#stopFeeding.signal.reason);
      if (coordinator.isFeeding) this.#startWorker();
      const reason = await coordinator.run();
      if (reason.state === 'restart' && reason.hasLostRows)
        this.options.log.error(
          { run: record.id },
          'the datastore has lost rows, or may have: they are fed again and marked unclear',
        );
      const drained = await unlessAborted(drain(this, coordinator, this.#worker, reason), this.#stopWaiting);
      return drained ?? { state: 'interrupted' };
    });
  }

  #startWorker(): void {
    const { client } = this.options;
    if (client === undefined) return;
    this.#worker = startOwnWorker(this, {
      client,
      window: this.#window,
      startingPoint: this.#startingPoint,
      haltIf: (halt) => this.#haltIf(halt),
    });
  }

  async *#resultsWithoutCall(held: ReadonlySet<number>): AsyncGenerator<readonly RowResult[]> {
    for (const part of this.#parts) yield* part.resultsWithoutCall?.(held) ?? [];
  }

  async #resultsCollected(results: readonly RowResult[]): Promise<void> {
    this.#haltIf(this.guards.takeCollectedResults(results));
    if (!this.run.datastore.exclusive)
      for (const result of results) this.tellEvent({ type: 'finished', result });
  }

  #haltIf(halt: GuardHalt | undefined): void {
    if (halt !== undefined) this.#stop(halt);
  }

  /** Ends the feeding. Only the first reason counts. */
  #stop(reason: StopReason): void {
    this.#stopFeeding.abort(reason);
    this.#worker?.pause();
    this.#coordinator?.end(reason);
  }

  /** @returns undefined when more rows are to be fed */
  async #endAfterReason(reason: StopCommand): Promise<RunEnding | undefined> {
    switch (reason.state) {
      case 'restart':
        return undefined;
      case 'paused':
        return this.#endAfterReason(await this.#pause(reason));
      case 'unpaused': {
        const { state: _, ...attribution } = reason;
        this.tellEvent({ type: 'paused', paused: false, attribution });
        return undefined;
      }
      case 'completed': {
        const next = await this.#nextStage();
        return 'end' in next ? next.end && endOfWork(next.end, this) : this.#endAfterReason(next);
      }
      default:
        return endOfWork(reason, this);
    }
  }

  #pause({ state: _, ...attribution }: RunPause): Promise<StopCommand> {
    this.options.log.info({ run: this.run.record.id }, 'run paused');
    this.tellEvent({ type: 'paused', paused: true, attribution });
    const phase = attribution.because === 'canary' ? 'paused by canary' : 'paused';
    return this.#unlessStopped(phase, () => new Promise<never>(() => {}));
  }

  #nextStage(): Promise<{ readonly end: RunEnding | GuardHalt | undefined } | StopCommand> {
    const stages = this.#parts.find((part) => part.nextStage !== undefined);
    return this.#unlessStopped('between stages', async (stopping) => {
      const end = await (stages?.nextStage?.(stopping) ?? ({ state: 'completed' } as const));
      return end?.state === 'paused' ? end : { end };
    });
  }

  /** @throws when the lock on the run is lost */
  async #unlessStopped<Value extends object>(
    phase: StopPhase,
    work: (stopping: AbortSignal) => Promise<Value>,
  ): Promise<Value | StopCommand> {
    const { lost } = this.run;
    const stopped = new AbortController();
    const forget = this.#onStop(phase, (command) => stopped.abort(command));
    const stopping = AbortSignal.any([stopped.signal, lost]);
    const value = await unlessAborted(work(stopping), stopping).finally(forget);
    lost.throwIfAborted();
    return value ?? stopped.signal.reason;
  }

  #onStop(phase: StopPhase, stop: (command: StopCommand) => void): () => void {
    const listeners = [
      onAbort(this.options.interrupt, () => stop({ state: 'interrupted' })),
      ...this.#parts.map((part) => part.onStop?.(phase, stop)),
    ];
    return () => {
      for (const forget of listeners) forget?.();
    };
  }

  /** @throws the error of writing the report, which says how to write the report again */
  async #report({ end, isHandedOver }: RecordedEnd): Promise<ExecutedRun> {
    const { record } = this.keeper;
    const reporter = this.#parts.find((part) => part.report !== undefined);
    if (isHandedOver || reporter?.report === undefined) return { record, end };
    const reports = await reporter.report(record).catch(async (error: unknown) => {
      throw await failReport(this, error);
    });
    return { record, end, reports };
  }
}
