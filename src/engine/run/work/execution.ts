import { isDeepStrictEqual } from 'node:util';
import { repeat } from '../../../base/async/repeat.ts';
import type { Defer } from '../../../base/async/scope.ts';
import { never, onAbort, unlessAborted, withTimeout } from '../../../base/async/waiting.ts';
import { ErrorThrottle, LastingErrors } from '../../../base/errors/error-throttle.ts';
import { type CqbatchError, meaningOf } from '../../../base/errors/errors.ts';
import { systemError } from '../../../base/errors/system-error.ts';
import type { PaceReport } from '../../../domain/pace.ts';
import { type Cluster, openCluster } from '../../cluster/cluster.ts';
import type { ControlOf, RunEntry } from '../../cluster/entries.ts';
import { onlyMembership } from '../../cluster/membership.ts';
import type { CallsInFlight } from '../../rate/traffic-meter.ts';
import { removeReport } from '../../report/write-reports.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { type Deadline, startDeadline } from '../record/budget.ts';
import type { OpenRun } from '../record/open-run.ts';
import { priorityOf, withoutQueueAndBudget, withPriority } from '../record/record.ts';
import { RecordKeeper, withCrashedTime } from '../record/record-keeper.ts';
import { countsOf, isIntact, outcomesOf, requireAllResults, unfinishedRows } from '../record/run-journal.ts';
import type { RunEnding } from '../record/run-outcome.ts';
import { unservedText } from '../record/run-view.ts';
import { rememberSuccess, rememberUse } from '../record/targets.ts';
import { type ControlWatch, clearControls, inCluster, inFolder, watchControls } from './control.ts';
import { keepEstimate } from './estimated-limits.ts';
import type { EndedExecution, ExecuteRunOptions } from './execution-options.ts';
import { announce, entryOf, type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { Progress, type RunEvent } from './progress.ts';
import { RateLog } from './rate-log.ts';
import { RunSession } from './session.ts';
import { Stages } from './stages.ts';

/** After this time, other processes learn of a delay by the datastore. */
const delayMs = 2_000;
/** How long the last entry may take on an unreachable datastore. */
const farewellMs = 2_000;

/**
 * A run in progress in this process, with a heartbeat for other processes and a log of its rate.
 *
 * ```
 * running ⇄ paused ──▶ completed, halted, cancelled, interrupted; submitted, when another process takes over
 *    └─────────┴─(datastore, journal or disk fails)──▶ failed
 * ```
 */
export class Execution {
  readonly #run: OpenRun;
  readonly #options: ExecuteRunOptions;
  readonly #rows: RowsFile;
  readonly #cluster: Cluster | undefined;
  readonly #keeper: RecordKeeper;
  readonly #progress: Progress;
  readonly #failing: LastingErrors;
  readonly #errors = new ErrorThrottle();
  #rateLog: RateLog | undefined;
  #heartbeat: Heartbeat | undefined;

  constructor(run: OpenRun, options: ExecuteRunOptions, rows: RowsFile) {
    const { record, datastore, journal, store } = run;
    this.#run = run;
    this.#options = options;
    this.#rows = rows;
    this.#failing = options.failing ?? new LastingErrors();
    this.#cluster = datastore.exclusive ? undefined : openCluster(datastore);
    const unplaced = withoutQueueAndBudget(record);
    this.#keeper = new RecordKeeper(store, withCrashedTime(unplaced, journal.lastFinishedAt));
    this.#progress = new Progress({
      rows: record.plan.rows,
      counts: outcomesOf(record, journal),
      timeoutMs: record.options.timeoutMs,
    });
  }

  async untilEnd(defer: Defer): Promise<EndedExecution> {
    const { record, store, lost } = this.#run;
    const { budget } = this.#options;
    defer(() => this.#keeper.close());
    onAbort(lost, () => this.#keeper.close());
    await this.#start();
    const deadline = budget && (await startDeadline(budget, record.budget?.begun));
    defer(() => deadline?.close());
    const folder = store.folder(record.id);
    const rateLog = await RateLog.open(folder, record.options.rate?.text ?? 'none');
    this.#rateLog = rateLog;
    defer(() => rateLog.close());
    const cluster = this.#cluster;
    const places = [inFolder(folder), ...(cluster === undefined ? [] : [inCluster(cluster, record.id)])];
    const controls = watchControls(
      places,
      (control) => (control.kind === 'rate' ? this.#setRate(control) : this.#setPriority(control)),
      this.#onError,
    );
    defer(() => controls.close());
    defer(repeat(() => this.#recordDelay(), { everyMs: delayMs }).stop);
    try {
      if (cluster !== undefined) await this.#show(cluster, defer);
      return await this.#finish(await this.#work(controls, deadline));
    } catch (error) {
      throw await this.#fail(error);
    }
  }

  async #start(): Promise<void> {
    const { record, store } = this.#run;
    const { queue, handOver, onStarted, attribution } = this.#options;
    const folder = store.folder(record.id);
    this.#keeper.enter('running', attribution, queue === undefined ? {} : { queue });
    if (this.#cluster !== undefined) await announce(this.#cluster, this.#entry());
    // A user who starts the run by hand overrides earlier commands.
    if (!handOver) {
      await this.#cluster?.clearControls(record.id);
      await clearControls(folder);
    }
    await this.#keeper.save();
    await removeReport(folder, 'not-attempted.csv');
    await this.#rememberUse();
    onStarted?.({ progress: this.#progress, trouble: this.#delay });
  }

  /** Resolves when the run's rate is in force. */
  async #show(cluster: Cluster, defer: Defer): Promise<void> {
    const { client, interrupt } = this.#options;
    const heartbeat = startHeartbeat({
      cluster,
      entry: () => this.#entry(),
      onClusterStatus: ({ workers, pace, ahead }) => {
        this.#seeWorkers(workers);
        this.#progress.ahead = ahead;
        // If this process calls nothing, only the leading worker knows the pace.
        if (client === undefined && pace !== undefined) this.#seePace(pace);
      },
      onError: this.#onError,
    });
    this.#heartbeat = heartbeat;
    defer(() => withTimeout(heartbeat.stop(), farewellMs));
    await unlessAborted(heartbeat.established, AbortSignal.any([interrupt, this.#run.lost]));
  }

  readonly #delay = (): string | undefined =>
    this.#run.datastore.trouble ?? this.#failing.text ?? this.#heartbeat?.silence;

  /** Writes the record, because a datastore that refuses commands can't tell other processes. */
  #recordDelay(): void {
    const waiting = this.#delay();
    if (waiting === this.#keeper.record.waiting) return;
    this.#keeper.change({ waiting });
    if (this.#rateLog !== undefined) this.#rateLog.delay = waiting;
    void this.#saved();
  }

  #seeWorkers(workers: number): void {
    const { id, options } = this.#run.record;
    const change = this.#progress.seeWorkers(workers);
    if (change === 'unserved') this.#options.log.warn({ run: id }, `rows wait ${unservedText(options)}`);
    if (change === 'served') this.#options.log.info({ run: id }, 'a worker serves the run');
  }

  async #work(controls: ControlWatch, deadline: Deadline | undefined): Promise<RunEnding> {
    const { record, journal } = this.#run;
    const options = this.#options;
    const rate = () => this.#keeper.record.options.rate;
    const opened = { run: this.#run, rows: this.#rows, keeper: this.#keeper };
    const stages = await Stages.begin({ ...options, ...opened, onError: this.#onError });
    if (options.handOver) await stages.keepBudget(deadline?.started);
    return new RunSession(this.#run, {
      ...options,
      rows: this.#rows,
      stages,
      deadline: deadline?.signal ?? never,
      controls,
      workers: () => this.#progress.workers ?? 1,
      rate,
      priority: () => priorityOf(this.#keeper.record),
      join: () =>
        this.#cluster?.join(record.options, options.version) ??
        onlyMembership(rate, () => unfinishedRows(record, journal)),
      known: await options.estimates?.load(),
      onPace: (pace, inFlight) => this.#seePace(pace, inFlight),
      onEvent: (event) => this.#see(event),
      onError: this.#onError,
      rateInForce: async () => this.#heartbeat?.establishedAgain(),
    }).untilEnd();
  }

  #see(event: RunEvent): void {
    this.#progress.see(event);
    this.#options.onEvent?.(event);
    if (event.type !== 'paused') return;
    this.#keeper.enter(event.paused ? 'paused' : 'running', event.attribution);
    if (this.#rateLog !== undefined) this.#rateLog.paused = event.paused;
    this.#heartbeat?.now();
    void this.#saved();
  }

  async #finish(end: RunEnding): Promise<EndedExecution> {
    const { record: planned, journal } = this.#run;
    const { handOver, estimates, onEnded } = this.#options;
    if (end.state === 'completed') requireAllResults(planned, journal);
    await this.#rememberSuccess();
    onEnded?.();
    await this.#rateLog?.close();
    const { pace } = this.#progress;
    if (estimates !== undefined && pace !== undefined)
      await keepEstimate(estimates, pace).catch((error: Error) =>
        this.#warn(error, 'the estimated limit was not saved'),
      );
    const { state, ...cause } = end;
    const isHandedOver = handOver === true && state === 'interrupted' && end.because === undefined;
    this.#keeper.enter(isHandedOver ? 'submitted' : state, cause, {
      counts: outcomesOf(planned, journal),
      unclear: journal.unclearCount,
    });
    await this.#keeper.save();
    return { record: this.#keeper.record, end, isHandedOver };
  }

  /** @returns the error to be thrown */
  async #fail(thrown: unknown): Promise<unknown> {
    const error = meaningOf(thrown);
    const { store, record, journal } = this.#run;
    const failure = systemError(error)?.followedBy(`cqbatch resume ${record.id}`) ?? error;
    const { code } = error as CqbatchError;
    // A process that has lost the run must not overwrite what the next one has written.
    if (code === 'LOCK_LOST') this.#rateLog?.abandon();
    else if (!(this.#options.handOver && code === 'JOURNAL_REMOVED')) {
      this.#keeper.enter('failed', { reason: (failure as Error).message });
      await this.#saved();
    }
    const intact = await isIntact(store, record.id, journal);
    const counts = intact ? outcomesOf(record, journal) : this.#progress.snapshot().counts;
    this.#options.onFailed?.({ counts, intact, ended: false });
    return failure;
  }

  /** A failure to save does not end the run. */
  async #saved(): Promise<void> {
    const { log, record } = this.#options;
    const failed = ({ message }: Error) => log.error({ run: record.id, err: message }, 'not saved');
    await this.#keeper.save().catch(failed);
  }

  /** Best effort: on failure the user is only told or asked again. */
  async #rememberUse(): Promise<void> {
    const { store, record } = this.#run;
    await rememberUse(store.stateDir, record.options.baseUrl).catch((error: Error) =>
      this.#warn(error, 'targets.json was not written'),
    );
  }

  async #rememberSuccess(): Promise<void> {
    const { store, record, journal } = this.#run;
    const succeeded = store.operations.filter(({ name }) => journal.provenOperations.has(name));
    if (succeeded.length === 0) return;
    await rememberSuccess(store.stateDir, record.options.baseUrl, succeeded).catch((error: Error) =>
      this.#warn(error, 'targets.json was not written'),
    );
  }

  /** The coordinator reads the priority when it next refreshes its batches. */
  #setPriority({ kind: _, ...set }: ControlOf<'priority'>): void {
    const { record } = this.#keeper;
    if (priorityOf(record) === set.priority) return;
    this.#keeper.change(withPriority(record, set));
    this.#options.log.info({ run: record.id, priority: set.priority }, 'priority set');
    this.#heartbeat?.now();
    void this.#saved();
  }

  /** The leading worker reads the rate at its next beat: from the record in this process, or from the run's entry. */
  #setRate({ kind: _, rate, at, ...attribution }: ControlOf<'rate'>): void {
    const { rate: lastRate, ...options } = this.#keeper.record.options;
    const set = rate === null ? undefined : { ...rate, setAt: at };
    if (isDeepStrictEqual(lastRate, set)) return;
    const rates = [...(this.#keeper.record.rates ?? []), { rate: rate?.text ?? 'none', at, ...attribution }];
    this.#keeper.change({ options: { ...options, ...(set !== undefined && { rate: set }) }, rates });
    if (this.#rateLog !== undefined) this.#rateLog.wanted = rate?.text ?? 'none';
    this.#options.log.info({ run: this.#run.record.id, rate: rate?.text ?? 'none' }, 'rate set');
    this.#heartbeat?.now();
    void this.#saved();
  }

  #seePace(pace: PaceReport, inFlight?: CallsInFlight): void {
    this.#rateLog?.see(pace);
    this.#progress.seePace(pace, inFlight);
  }

  #entry(): RunEntry {
    const { record } = this.#keeper;
    return entryOf(record, countsOf(record, this.#run.journal), this.#progress, this.#options.version);
  }

  readonly #onError = (error: Error): void => {
    this.#failing.see(error);
    if (this.#errors.isNews(error)) this.#warn(error, 'datastore error');
  };

  #warn({ message }: Error, what: string): void {
    this.#options.log.warn({ run: this.#run.record.id, err: message }, what);
  }
}
