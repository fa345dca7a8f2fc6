import { isDeepStrictEqual } from 'node:util';
import type { Attribution } from '../actor.ts';
import { type Cluster, openCluster } from '../cluster/cluster.ts';
import type { ControlOf, RunEntry } from '../cluster/entries.ts';
import { onlyMember } from '../cluster/member.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { CqbatchError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { Pace, PaceReport } from '../pace.ts';
import type { CallsInFlight } from '../rate/traffic-meter.ts';
import type { AtEnd } from '../releases.ts';
import { removeNotAttempted, type WrittenReports } from '../report/write-reports.ts';
import { systemError } from '../system-error.ts';
import { onAbort, orAborted, orAfter } from '../waiting.ts';
import { type Budget, beginDeadline, type Deadline } from './budget.ts';
import type { AskAfterCanary } from './canary.ts';
import { type ControlWatch, clearControls, inCluster, inFolder, watchControls } from './control.ts';
import { type EstimatedLimits, keepEstimate } from './estimated-limits.ts';
import { announce, entryOf, type Heartbeat, startHeartbeat } from './heartbeat.ts';
import type { OpenRun, OpenRunInput } from './open-run.ts';
import { Progress } from './progress.ts';
import { RateLog } from './rate-log.ts';
import { type RunRecord, withoutPlace } from './record.ts';
import { RecordKeeper, withTimeOfDead } from './record-keeper.ts';
import { reportRun } from './report-run.ts';
import { causeOf, type RunEnd } from './run-end.ts';
import { runHere } from './run-here.ts';
import { countsOf, isIntact, requireAllResults } from './run-journal.ts';
import { type PlannedManifest, unfinishedTasks } from './run-manifest.ts';
import { Stages } from './stages.ts';
import { grantsPartial, rememberTarget } from './targets.ts';
import type { RunContext } from './working-spell.ts';

/** The record is that of a run that is planned, or stopped before its end. */
export interface ExecuteRunOptions extends RunContext, Omit<OpenRunInput, 'purpose'> {
  /** The shared datastore without its password; absent for the embedded one. */
  readonly queue?: string | undefined;
  /** What earlier runs have estimated of the API's limits; what this one does goes there. */
  readonly estimates?: EstimatedLimits | undefined;
  /** Version of the program, for those who look at a shared datastore. */
  readonly version: string;
  /** Decides whether the run goes on after its canary. Default: that depends on what failed in it. */
  readonly askAfterCanary?: AskAfterCanary;
  /** How much of it is done before it stops by itself; absent: all. */
  readonly budget?: Budget | undefined;
  /** Who begins or resumes it, and why. */
  readonly attribution?: Attribution;
  /** Called before the first row is fed. */
  readonly onStarted?: (started: StartedRun) => void;
  /** Called when no more rows are called, before the report is written. */
  readonly onEnded?: () => void;
  /** Called when a run that had started has failed, before the error is thrown. */
  readonly onFailed?: (left: FailedRun) => void;
}

/** What there is of a run that has failed. */
export interface FailedRun {
  readonly counts: Journal['outcomeCounts'];
  /** Whether all of these results are in the run's folder; else they are those that were seen. */
  readonly intact: boolean;
  /** Whether the run had come to its end, so that only its report is missing. */
  readonly ended: boolean;
}

export interface StartedRun {
  /** Follows the run until its end. */
  readonly progress: Progress;
  /** `trouble` tells what is waited for. */
  readonly datastore: Pick<Datastore, 'trouble' | 'exclusive'>;
}

export interface ExecutedRun {
  readonly record: RunRecord;
  readonly end: RunEnd;
  /** Absent when the run was handed over. */
  readonly reports?: WrittenReports;
}

/** Of a run without a deadline. */
const never = new AbortController().signal;
/** The last entry is not worth waiting longer for a datastore that is away. */
const farewellMs = 2_000;

/**
 * A run that goes on here, from the first state that it enters to its report.
 *
 * ```
 * running ⇄ paused ──▶ completed, halted, cancelled, interrupted; submitted, when it is handed over
 *    └─────────┴─(datastore, journal or disk fails)──▶ failed
 * ```
 *
 * These are the states of its record. While it goes on, its heartbeat shows it to others, and its rate is logged.
 */
export class Execution {
  readonly #run: OpenRun;
  readonly #options: ExecuteRunOptions;
  readonly #planned: PlannedManifest;
  readonly #cluster: Cluster | undefined;
  readonly #keeper: RecordKeeper;
  readonly #progress: Progress;
  #rateLog: RateLog | undefined;
  #pace: Pace | undefined;
  #deadline: Deadline | undefined;
  #heartbeat: Heartbeat | undefined;
  /** Those that call the API, on all machines. */
  #workers = 1;
  /** Whether it has come to its end, so that only its report is missing. */
  #hasEnded = false;

  constructor(run: OpenRun, options: ExecuteRunOptions, planned: PlannedManifest) {
    const { record, datastore, journal, store } = run;
    this.#run = run;
    this.#options = options;
    this.#planned = planned;
    this.#cluster = datastore.exclusive ? undefined : openCluster(datastore);
    this.#keeper = new RecordKeeper(store, withTimeOfDead(withoutPlace(record), journal.lastFinishedAt));
    this.#progress = new Progress({
      rows: record.plan.rows,
      counts: journal.outcomeCounts,
      timeoutMs: record.options.timeoutMs,
    });
  }

  async untilEnd(atEnd: AtEnd): Promise<ExecutedRun> {
    const { record, store, lost } = this.#run;
    atEnd(() => this.#keeper.close());
    onAbort(lost, () => this.#keeper.close());
    await this.#begin();
    const { budget } = this.#options;
    if (budget !== undefined) this.#deadline = await beginDeadline(budget, record.budget?.begun);
    atEnd(() => this.#deadline?.close());
    const folder = store.folder(record.id);
    const rateLog = await RateLog.open(folder, record.options.rate?.text ?? 'none');
    this.#rateLog = rateLog;
    atEnd(() => rateLog.close());
    const places = [
      inFolder(folder),
      ...(this.#cluster === undefined ? [] : [inCluster(this.#cluster, record.id)]),
    ];
    const controls = watchControls(places, (control) => this.#setRate(control));
    atEnd(() => controls.close());
    try {
      if (this.#cluster !== undefined) await this.#show(this.#cluster, atEnd);
      return await this.#finish(await this.#work(controls));
    } catch (error) {
      throw await this.#fail(error);
    }
  }

  async #begin(): Promise<void> {
    const { record, store, datastore } = this.#run;
    const { queue, handOver, onStarted, attribution } = this.#options;
    const folder = store.folder(record.id);
    this.#keeper.enter('running', attribution, queue === undefined ? {} : { queue });
    if (this.#cluster !== undefined) await announce(this.#cluster, this.#entry(), { takeUp: !handOver });
    if (!handOver) await clearControls(folder);
    await this.#keeper.save();
    await removeNotAttempted(folder);
    await this.#remember('used');
    onStarted?.({ progress: this.#progress, datastore });
  }

  /** Shows the run to others until it ends. Resolves when its rate is in force. */
  async #show(cluster: Cluster, atEnd: AtEnd): Promise<void> {
    const { client, interrupt } = this.#options;
    const heartbeat = startHeartbeat({
      cluster,
      entry: () => this.#entry(),
      onClusterStatus: ({ workers, pace }) => {
        this.#workers = workers;
        this.#progress.seeWorkers(workers);
        // Where this process calls nothing, only the worker that leads knows the pace.
        if (client === undefined && pace !== undefined) this.#seePace(pace);
      },
      onError: (error) => this.#warn(error, 'datastore error'),
    });
    this.#heartbeat = heartbeat;
    atEnd(() => orAfter(heartbeat.stop(), farewellMs).catch(() => {}));
    await orAborted(heartbeat.established, AbortSignal.any([interrupt, this.#run.lost]));
  }

  async #work(controls: ControlWatch): Promise<RunEnd> {
    const { record, journal } = this.#run;
    const { manifest, prepare } = this.#planned;
    const { estimates, version, ...context } = this.#options;
    const { baseUrl } = record.options;
    const rate = () => this.#keeper.record.options.rate;
    const stages = await Stages.begin({
      run: this.#run,
      planned: this.#planned,
      keeper: this.#keeper,
      ask: context.askAfterCanary,
      budget: context.budget,
      interrupt: context.interrupt,
    });
    if (context.handOver) await stages.keepBudget(this.#deadline?.begun);
    return runHere(this.#run, {
      ...context,
      deadline: this.#deadline?.signal ?? never,
      controls,
      workers: () => this.#workers,
      rate,
      tasks: () => unfinishedTasks(record.id, manifest.rows(), prepare, journal, stages.selection),
      onDone: (signal) => stages.next(signal),
      join: () =>
        this.#cluster?.join(baseUrl, version) ??
        onlyMember(rate, () => record.plan.rows - journal.finishedCount),
      known: await estimates?.load(),
      onPace: (pace, inFlight) => this.#seePace(pace, inFlight),
      onEvent: (event) => {
        this.#progress.see(event);
        if (event.type === 'paused') {
          this.#keeper.enter(event.paused ? 'paused' : 'running', event.attribution);
          this.#heartbeat?.now();
          void this.#saved();
        }
      },
      rateInForce: async () => this.#heartbeat?.establishedAgain(),
    });
  }

  async #finish(end: RunEnd): Promise<ExecutedRun> {
    const { record: planned, journal, store } = this.#run;
    const { handOver, estimates, onEnded } = this.#options;
    if (end.state === 'completed') requireAllResults(planned, journal);
    if (end.state === 'completed' && grantsPartial(planned)) await this.#remember('partial');
    onEnded?.();
    await this.#rateLog?.close();
    if (estimates !== undefined && this.#pace !== undefined)
      await keepEstimate(estimates, this.#pace).catch((error: Error) =>
        this.#warn(error, 'the estimate of the limit is not kept'),
      );
    const isHandedOver = end.state === 'interrupted' && end.spent === undefined && handOver === true;
    const counts = { ...journal.outcomeCounts };
    const cause = await causeOf(end, this.#run);
    this.#keeper.enter(isHandedOver ? 'submitted' : end.state, cause, { counts });
    await this.#keeper.save();
    this.#hasEnded = true;
    const { record } = this.#keeper;
    return isHandedOver ? { record, end } : { record, end, reports: await reportRun(store, record, journal) };
  }

  /** @returns the error to be thrown */
  async #fail(error: unknown): Promise<unknown> {
    const { store, record, journal } = this.#run;
    const remedy = `cqbatch ${this.#hasEnded ? 'report' : 'resume'} ${record.id}`;
    const failure = systemError(error)?.followedBy(remedy) ?? error;
    const { code } = error as CqbatchError;
    // Who has lost the run to another process must not write what that one has written since.
    if (code === 'LOCK_LOST') this.#rateLog?.abandon();
    else if (!this.#hasEnded && !(this.#options.handOver && code === 'JOURNAL_REMOVED')) {
      this.#keeper.enter('failed', { reason: (failure as Error).message });
      await this.#saved();
    }
    const intact = await isIntact(store, record.id, journal);
    const counts = intact ? journal.outcomeCounts : this.#progress.snapshot().counts;
    this.#options.onFailed?.({ counts, intact, ended: this.#hasEnded });
    return failure;
  }

  /** Saves the record where that it can't be saved must not end the run. */
  async #saved(): Promise<void> {
    const { log, record } = this.#options;
    await this.#keeper
      .save()
      .catch(({ message }: Error) => log.error({ run: record.id, err: message }, 'not saved'));
  }

  /** Worth no error: without it, the user is told or asked once more. */
  async #remember(what: 'used' | 'partial'): Promise<void> {
    const { store, record } = this.#run;
    await rememberTarget(store.stateDir, record.options.baseUrl, what).catch((error: Error) =>
      this.#warn(error, 'targets.json is not written'),
    );
  }

  /** The worker that leads hears of it with its next beat: from the record here, or from the entry of the run. */
  #setRate({ kind: _, rate, at, ...attribution }: ControlOf<'rate'>): void {
    const { rate: before, ...options } = this.#keeper.record.options;
    if (isDeepStrictEqual(before ?? null, rate)) return;
    const rates = [...(this.#keeper.record.rates ?? []), { rate: rate?.text ?? 'none', at, ...attribution }];
    this.#keeper.change({ options: { ...options, ...(rate !== null && { rate }) }, rates });
    if (this.#rateLog !== undefined) this.#rateLog.wanted = rate?.text ?? 'none';
    this.#options.log.info({ run: this.#run.record.id, rate: rate?.text ?? 'none' }, 'rate set');
    this.#heartbeat?.now();
    void this.#saved();
  }

  #seePace(pace: PaceReport, inFlight?: CallsInFlight): void {
    this.#pace = pace;
    this.#rateLog?.see(pace);
    this.#progress.seePace(pace, inFlight);
  }

  #entry(): RunEntry {
    const { record } = this.#keeper;
    return entryOf(record, countsOf(record, this.#run.journal), this.#progress);
  }

  #warn({ message }: Error, what: string): void {
    this.#options.log.warn({ run: this.#run.record.id, err: message }, what);
  }
}
