import type { CqbatchError } from '../../src/base/errors/errors.ts';
import { lockMs } from '../../src/engine/queue/bullmq.ts';
import type { RunEnding } from '../../src/engine/run/record/ending.ts';
import {
  beginCoordinator,
  type CoordinatorProcess,
  newRunFolder,
  type RunFolder,
  runId,
} from './coordinator-process.ts';
import { Random } from './random.ts';
import { Referee } from './referee.ts';
import { type Mishap, type Scenario, scenarioOf } from './scenario.ts';
import { SimulatedApi } from './simulated-api.ts';
import { SimulatedDatastore } from './simulated-datastore.ts';
import { newJournalFile } from './simulated-journal.ts';
import { inTimeOf } from './simulated-time.ts';
import { Sightings, type Sometimes } from './sometimes.ts';
import type { Stage } from './stage.ts';
import { beginWorker, type WorkerProcess } from './worker-process.ts';
import { World } from './world.ts';

/** How a run ended. */
export interface Played {
  readonly seed: number;
  readonly scenario: Scenario;
  /** The broken promises; empty when all is well. */
  readonly violations: readonly string[];
  /** A number made of all events, in order. */
  readonly trace: number;
  readonly events: number;
  readonly simulatedMs: number;
  /** The rare states that it reached. */
  readonly reached: ReadonlySet<Sometimes>;
  /** The events, if wanted. */
  readonly lines: readonly string[];
}

/** A run that takes longer hangs: no mishap lasts that long. */
const longestMs = 2 * 3_600_000;
/** Late events may still do something after the end. */
const aftermathMs = 5_000;
const enoughViolations = 5;
/**
 * How long a disk stays slow after the process continues: long enough for another look for batches whose locks have expired.
 */
const slowMs = 12_000;

/** Plays the run of a seed. */
export function play(seed: number, options: { readonly keepLines?: boolean } = {}): Promise<Played> {
  const scenario = scenarioOf(seed);
  const world = new World(new Random(seed ^ 0x5bd1e995), options);
  return inTimeOf(world, () => new Game(world, scenario).play());
}

/** One run, with everything that works on it and happens to it. */
class Game {
  readonly #world: World;
  readonly #scenario: Scenario;
  readonly #stage: Stage;
  readonly #folder: RunFolder;
  readonly #violations: string[] = [];
  #coordinator: CoordinatorProcess | undefined;
  #coordinators = 0;
  readonly #workers: (WorkerProcess | undefined)[] = [];
  #workersBegun = 0;
  #removals = 0;
  readonly #fatesOfRemovals = new Map<number, () => void>();
  /** How the run finally ended. */
  #end: 'completed' | 'cancelled' | undefined;
  #overAt = Number.POSITIVE_INFINITY;
  /** When the last frozen process continues. */
  #calmAt = 0;

  constructor(world: World, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
    const datastore = new SimulatedDatastore(world, scenario.network);
    const journal = newJournalFile(runId);
    const fail = (violation: string): void => this.#fail(violation);
    const sightings = new Sightings(journal);
    const shared = { world, scenario, datastore, journal, sightings, fail };
    const referee = new Referee({ ...shared, isGoing: () => this.#coordinator !== undefined });
    watchModel(world, datastore, { referee, sightings }, () => this.#removed());
    const api = new SimulatedApi(world, scenario, referee);
    this.#stage = { ...shared, api, referee, baseUrl: 'http://api.test/' };
    this.#folder = newRunFolder(scenario);
  }

  async play(): Promise<Played> {
    const world = this.#world;
    const { referee } = this.#stage;
    const { canary } = this.#scenario.options;
    const { maxRows } = this.#scenario;
    if (canary !== undefined) referee.bind('canary', canary.rows);
    else if (maxRows !== undefined) referee.bind('budget', maxRows);
    this.#beginCoordinator();
    for (let place = 0; place < this.#scenario.workers; place += 1) this.#beginWorker(place);
    for (const mishap of this.#scenario.mishaps) this.#plan(mishap);
    const unhandled = (error: unknown): void =>
      this.#fail(`an error is not handled: ${(error as Error)?.stack ?? error}`);
    process.on('unhandledRejection', unhandled);
    try {
      const ended = await world.play(() => this.#isOver, longestMs);
      if (ended !== 'over') this.#fail(`the run hangs (${ended})`);
      else this.#check();
    } catch (error) {
      this.#fail(`the simulation fails: ${(error as Error).stack}`);
    } finally {
      process.off('unhandledRejection', unhandled);
    }
    return {
      seed: this.#scenario.seed,
      scenario: this.#scenario,
      violations: this.#violations,
      trace: world.trace,
      events: world.count,
      simulatedMs: world.now,
      reached: this.#stage.sightings.seen,
      lines: world.lines ?? [],
    };
  }

  get #isOver(): boolean {
    return this.#violations.length >= enoughViolations || this.#world.now >= this.#overAt;
  }

  #fail(violation: string): void {
    this.#world.tell(`VIOLATION: ${violation}`);
    this.#violations.push(violation);
  }

  #beginCoordinator(): void {
    const { sightings, datastore } = this.#stage;
    this.#coordinators += 1;
    sightings.coordinatorBegins(datastore.isAway);
    if (this.#folder.record.canary?.wentOn) this.#stage.referee.bind('canary', undefined);
    const handOver = this.#scenario.maxRows !== undefined || this.#scenario.seed % 2 === 0;
    const name = `coordinator ${this.#coordinators}`;
    const coordinator = beginCoordinator(this.#stage, { name, folder: this.#folder, handOver }, (end) => {
      this.#coordinator = undefined;
      this.#ended(end);
    });
    this.#coordinator = coordinator;
  }

  #ended(end: RunEnding | Error): void {
    const { sightings, referee, journal } = this.#stage;
    const isFailed = end instanceof Error;
    if (isFailed) sightings.note('the disk is full while batches are open', sightings.hasOpenBatches);
    // A full disk is the only mishap that ends a run with an error: all others pass, or show in its end.
    if (isFailed && (end as Partial<CqbatchError>).code !== 'DISK_FULL')
      this.#fail(`the run ends with an error: ${end.stack}`);
    if (!isFailed && (end.state === 'completed' || end.state === 'cancelled')) {
      this.#end = end.state;
      this.#overAt = Math.max(this.#world.now, this.#calmAt) + aftermathMs;
      return;
    }
    // The user sees what is wrong, corrects it, and resumes.
    if (!isFailed && end.state === 'interrupted' && end.because === 'budget') {
      const { budget: _, ...record } = this.#folder.record;
      this.#folder.record = record;
      referee.bind('budget', undefined);
      sightings.note('a run goes on after its budget');
    }
    if (!isFailed && end.state === 'halted') {
      if (end.because === 'guard') referee.halt();
      sightings.note(referee.bound === 'canary' ? 'a canary ends a run' : 'a guard halts a run');
      this.#accept();
    }
    journal.isFull = false;
    this.#soon(() => this.#beginCoordinator());
  }

  /** Like `resume`: the user resumes a run that a guard has halted. */
  #accept(): void {
    const { canary, ...record } = this.#folder.record;
    this.#folder.record = { ...record, ...(canary && { canary: { ...canary, wentOn: true } }) };
  }

  #beginWorker(place: number): void {
    this.#workersBegun += 1;
    const worker = beginWorker(this.#stage, `worker ${this.#workersBegun}`, () => this.#replaceWorker(place));
    this.#workers[place] = worker;
    this.#stage.sightings.workerBegins(worker.process);
  }

  #replaceWorker(place: number): void {
    const process = this.#workers[place]?.process;
    if (process !== undefined) this.#stage.sightings.workerLeaves(process);
    this.#workers[place] = undefined;
    this.#soon(() => this.#beginWorker(place));
  }

  #soon(work: () => void): void {
    const { random } = this.#world;
    this.#world.later(random.between(10, random.chance(0.3) ? 40_000 : 2_000), work, { owner: null });
  }

  #plan(mishap: Mishap): void {
    const deed = (): void => this.#do(mishap);
    const when = 'when' in mishap ? mishap.when : mishap;
    if ('atMs' in when) this.#world.later(when.atMs, deed, { owner: null });
    else if ('atWrite' in when) this.#stage.journal.fates.set(when.atWrite, deed);
    else if ('atRemoval' in when) this.#fatesOfRemovals.set(when.atRemoval, deed);
    else if ('victim' in mishap) this.#victim(mishap.victim)?.process.fates.set(when.atStep, deed);
  }

  #do(mishap: Mishap): void {
    const { world, datastore, journal, sightings } = this.#stage;
    switch (mishap.kind) {
      case 'kill':
      case 'freeze':
        this.#strike(mishap);
        break;
      case 'restart':
        datastore.restart(mishap.awayMs);
        break;
      case 'empty':
        datastore.empty();
        break;
      case 'copy':
        datastore.keepCopy();
        break;
      case 'put back':
        datastore.putBack(mishap.awayMs);
        break;
      case 'lost key':
        sightings.note('the datastore loses a key with a batch', datastore.lose(mishap.of, mishap.key));
        break;
      case 'disk full':
        world.tell('the disk is full');
        journal.isFull = true;
        break;
      case 'stop': {
        const victim = this.#victim(mishap.victim);
        if (victim !== undefined) world.tell(`${victim.process.name} is told to stop`);
        sightings.note(`a stop of the ${mishap.victim} finds calls in flight`, sightings.hasCallsInFlight);
        if (mishap.victim === 'coordinator') sightings.drains();
        victim?.stop();
        break;
      }
      case 'priority':
        world.tell(`the priority is ${mishap.priority}`);
        sightings.note('a new priority finds open batches', sightings.hasOpenBatches);
        this.#folder.priority = mishap.priority;
        break;
      case 'command':
        world.tell(`the user wants: ${mishap.command}`);
        if (this.#folder.command === 'cancel') return;
        sightings.commanded(mishap.command);
        this.#folder.command = mishap.command;
        this.#folder.commandAt = new Date().toISOString();
    }
  }

  #removed(): void {
    this.#removals += 1;
    const fate = this.#fatesOfRemovals.get(this.#removals);
    const { random } = this.#world;
    if (fate !== undefined) this.#world.later(random.between(0, 5), fate, { owner: null });
  }

  #victim(kind: 'coordinator' | 'worker'): CoordinatorProcess | WorkerProcess | undefined {
    return kind === 'coordinator' ? this.#coordinator : this.#workers[0];
  }

  #strike(mishap: Extract<Mishap, { kind: 'kill' | 'freeze' }>): void {
    const { world, journal, referee, sightings } = this.#stage;
    const victim = this.#victim(mishap.victim)?.process;
    if (victim === undefined || victim.isDead) return;
    if (mishap.kind === 'freeze') {
      const { victim: kind, when, forMs } = mishap;
      if (kind === 'worker')
        sightings.note('a worker freezes with a call in flight', sightings.isCalling(victim));
      else {
        const isLong = forMs > lockMs && sightings.hasOpenBatches;
        sightings.note('a coordinator freezes for longer than a lock while batches are open', isLong);
        sightings.note('a coordinator freezes during a write', 'atWrite' in when);
      }
      world.freeze(victim, mishap.forMs);
      if ('atWrite' in mishap.when) journal.slowUntil = world.now + mishap.forMs + slowMs;
      this.#calmAt = Math.max(this.#calmAt, world.now + mishap.forMs);
      return;
    }
    sightings.dies(victim);
    const isCoordinator = mishap.victim === 'coordinator';
    if (isCoordinator) referee.dies(victim);
    sightings.note('a coordinator dies when it has just removed a batch', 'atRemoval' in mishap.when);
    sightings.note('a coordinator dies during a canary', isCoordinator && referee.bound === 'canary');
    const isCanaryShown = this.#folder.record.canary?.wentOn === false;
    sightings.note('a coordinator dies while its canary pauses the run', isCoordinator && isCanaryShown);
    world.kill(victim);
    if (mishap.victim === 'worker') this.#replaceWorker(0);
    else {
      if (mishap.power !== undefined) {
        journal.losePower(world, mishap.power.lostBytes);
        sightings.losesPower();
      }
      this.#coordinator = undefined;
      this.#soon(() => this.#beginCoordinator());
    }
  }

  #check(): void {
    const { datastore, referee, journal, sightings } = this.#stage;
    sightings.ended(journal.entries().map(({ entry }) => entry));
    referee.end(this.#end === 'completed');
    const left = datastore.model.jobCounts();
    // Only a coordinator can remove what comes back after the end.
    if (left.length > 0 && datastore.forgot + datastore.lostKeys === 0)
      this.#fail(`the datastore holds something after the end: ${JSON.stringify(left)}`);
  }
}

/** Shows the referee and the trace what is done to the datastore. */
function watchModel(
  world: World,
  datastore: SimulatedDatastore,
  { referee, sightings }: Pick<Stage, 'referee' | 'sightings'>,
  onRemoved: () => void,
): void {
  const { model } = datastore;
  const by = (): string => datastore.client?.name ?? '';
  model.onAdd = (entries) => {
    const { jobId = '', jobData } = entries[0] ?? {};
    world.tell(`${by()} adds ${jobId}: ${jobData?.data}`);
    referee.added(entries, datastore.client, datastore.lostKeys);
    sightings.added(entries, datastore.client);
  };
  model.onLog = (id, text) => {
    world.tell(`${by()} writes into the ledger of ${id}: ${text}`);
    referee.logged(text, datastore.client);
    sightings.logged(id, text, datastore.client, datastore.start);
  };
  model.onChange = (what, queue, id) => {
    const isOfRows = queue.startsWith('rows');
    world.tell(`${by()}: ${isOfRows ? 'rows of' : 'parent of'} ${id} ${what}`);
    if (isOfRows && what === 'claimed') sightings.claimed(id, datastore.start);
    if (isOfRows && ['completed', 'failed', 'removed'].includes(what)) sightings.removed(id);
    if (isOfRows && what === 'removed') onRemoved();
  };
  datastore.onReplace = (ids) => sightings.replaced(ids);
  datastore.onBreak = (why) => sightings.note(`${why} while batches are open`, sightings.hasOpenBatches);
}
