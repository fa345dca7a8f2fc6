import type { RowResult } from '../../src/domain/row-result.ts';
import type { JournalEntry } from '../../src/engine/journal/line.ts';
import { JournalState } from '../../src/engine/journal/state.ts';
import { decodeLedgerEntry } from '../../src/engine/queue/payload.ts';
import { unfinishedResult } from '../../src/engine/report/join-results.ts';
import { fedInSpiteOf, mayHalt } from '../helpers/obeyed-guards.ts';
import type { FlowEntry } from './queue-model.ts';
import type { Mishap, Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { SimulatedProcess } from './world.ts';

/** What the referee sees of a run besides its calls. */
type Sight = Pick<Stage, 'world' | 'scenario' | 'journal' | 'datastore' | 'sightings' | 'fail'> & {
  /** Whether a coordinator is at work. */
  readonly isGoing: () => boolean;
};

/** Holds a run to the promises: during the run, and at its end. */
export class Referee {
  readonly #sight: Sight;
  readonly #calls = new Map<number, number>();
  readonly #done = new Map<number, number>();
  /** Rows with an answer that leaves open whether they were carried out. */
  readonly #doubtful = new Set<number>();
  /** How often a worker has written the intent of a row: once for each batch. */
  readonly #intended = new Map<string, number>();
  /** What is certainly on disk. */
  #durable = new JournalState();
  #read = 0;
  #cuts = 0;
  /** Rows that may be called until the run is allowed more: those of a canary, or of a budget. */
  #bound: { readonly what: string; readonly rows: number; readonly called: Set<number> } | undefined;
  /** Rows in a batch that the datastore had when its coordinator died, before the journal said so. */
  readonly #unannounced = new Set<number>();
  readonly #addedBy = new Map<number, SimulatedProcess | undefined>();
  /** By batch: the keys that the datastore had lost when the batch was added for the first time. */
  readonly #lostKeysBefore = new Map<string, number>();

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  /** From now on only this many rows may be called for the first time; undefined: any. */
  bind(what: string, rows: number | undefined): void {
    this.#bound = rows === undefined ? undefined : { what, rows, called: new Set() };
  }

  /** What binds the run now: `canary`, `budget` or nothing. */
  get bound(): string | undefined {
    return this.#bound?.what;
  }

  /**
   * A batch is added. The command of a dead process may arrive after the power failure that ended it. A command that is sent once more,
   * because its connection broke, adds a batch again if its key was lost meanwhile; the ledger of the batch has the results of its rows.
   */
  added(entries: readonly FlowEntry[], writer: SimulatedProcess | undefined, lostKeys: number): void {
    if (this.#sight.journal.cuts > 0 && writer?.isDead) return;
    const { jobId = '' } = entries[0] ?? {};
    const lostBefore = this.#lostKeysBefore.get(jobId);
    if (lostBefore === undefined) this.#lostKeysBefore.set(jobId, lostKeys);
    else if (lostKeys > lostBefore) return;
    const data = JSON.parse(entries[0]?.jobData.data ?? '{}') as { rows?: readonly [number, number][] };
    const durable = this.#readDurable();
    for (const [first, last] of data.rows ?? [])
      for (let row = first; row <= last; row += 1) {
        this.#addedBy.set(row, writer);
        if (!durable.isUnsettled(row))
          this.#fail(`row ${row} is in a batch, and the journal does not say that it was fed`);
      }
  }

  /** A coordinator is about to die. */
  dies(coordinator: SimulatedProcess): void {
    const durable = this.#readDurable();
    for (const [row, writer] of this.#addedBy)
      if (writer === coordinator && durable.isUnsettled(row) && !durable.isAdded(row))
        this.#unannounced.add(row);
  }

  /** An entry is written into a ledger. */
  logged(text: string, writer: SimulatedProcess | undefined): void {
    const entry = decodeLedgerEntry(text);
    if (entry.type !== 'work') return;
    for (const row of entry.intents ?? []) this.#intend(`${writer?.name} ${row}`, 1);
  }

  sent(row: number, worker: SimulatedProcess): void {
    const { world, scenario, journal, datastore, isGoing } = this.#sight;
    world.tell(`${worker.name} calls row ${row}`);
    this.#sight.sightings.sent(row, worker);
    this.#calls.set(row, (this.#calls.get(row) ?? 0) + 1);
    if (this.#intend(`${worker.name} ${row}`, -1) < 0)
      this.#fail(`row ${row} is called, and its ledger does not say so`);
    if (datastore.emptied + journal.cuts > 0) return;
    const durable = this.#readDurable();
    if (durable.isFinished(row)) this.#fail(`row ${row} is called, and has its result`);
    if (!isGoing() && !durable.isUnsettled(row)) this.#fail(`row ${row} is called though its run is at rest`);
    if (scenario.subjects < scenario.rows)
      for (let other = subjectOf(scenario, row); other < row; other += scenario.subjects)
        if (!durable.isFinished(other))
          this.#fail(`row ${row} is called before row ${other} of the same entry has its result`);
    const bound = this.#bound;
    bound?.called.add(row);
    if (bound !== undefined && bound.called.size > bound.rows)
      this.#fail(`${bound.called.size} rows are called, and the ${bound.what} allows ${bound.rows}`);
  }

  #intend(key: string, change: number): number {
    const intents = (this.#intended.get(key) ?? 0) + change;
    this.#intended.set(key, Math.max(0, intents));
    return intents;
  }

  answered(row: number, worker: SimulatedProcess, code: string): void {
    this.#sight.sightings.answered(row, worker, code);
  }

  /** No answer tells whether a call was carried out. */
  doubted(row: number): void {
    this.#doubtful.add(row);
  }

  unread(): void {
    this.#sight.sightings.note("a success can't be read");
  }

  done(row: number): void {
    this.#sight.sightings.done(row);
    this.#done.set(row, (this.#done.get(row) ?? 0) + 1);
  }

  /** A guard has halted the run. */
  halt(): void {
    const { maxFailures = 'none' } = this.#sight.scenario.options;
    if (!mayHalt(this.#entries, maxFailures))
      this.#fail('a guard halts the run, and too few rows have failed');
  }

  get #entries(): readonly JournalEntry[] {
    return this.#sight.journal.entries().map(({ entry }) => entry);
  }

  /** The run has ended. */
  end(isComplete: boolean): void {
    const { scenario, journal, datastore } = this.#sight;
    const losses = datastore.emptied + datastore.forgot + datastore.lostKeys;
    this.#checkGuards();
    // Nothing is left that knows of calls.
    if (journal.cuts > 0 && losses > 0) return;
    const results = new Map<number, RowResult>();
    const state = new JournalState();
    for (const { entry, offset } of journal.entries()) {
      state.apply(entry, offset);
      if (entry.type !== 'row') continue;
      if (results.has(entry.result.row)) this.#fail(`row ${entry.result.row} has two results`);
      else results.set(entry.result.row, entry.result);
    }
    for (let row = 1; row <= scenario.rows; row += 1) {
      // Not promised (docs/architecture.md): when a key of the batch is lost, no process knows of the batch.
      if (datastore.lostKeys > 0 && this.#unannounced.has(row)) continue;
      const result = results.get(row);
      const calls = this.#calls.get(row) ?? 0;
      if (result === undefined && isComplete) this.#fail(`row ${row} has no result`);
      const known = result ?? state.history(row) ?? { attempts: 0, unclear: false };
      const told = `row ${row} was called ${calls} times and carried out ${this.#done.get(row) ?? 0} times, and the journal says: ${JSON.stringify(known)}`;
      if (calls > known.attempts && !(losses + journal.cuts > 0 && known.unclear))
        this.#fail(`called in silence: ${told}`);
      if (result !== undefined) this.#checkResult(row, result, told);
      this.#checkReport(row, result, state, told);
    }
  }

  /** A row that is not attempted in the report, and not unclear, was certainly not carried out. */
  #checkReport(row: number, result: RowResult | undefined, state: JournalState, told: string): void {
    if (result !== undefined || (this.#done.get(row) ?? 0) === 0) return;
    const history = state.history(row);
    const isUnsettled = state.isUnsettled(row);
    const { outcome, unclear } = unfinishedResult('cancelled', { row, operation: '', history, isUnsettled });
    if (outcome === 'not_attempted' && !unclear) this.#fail(`carried out, and not attempted: ${told}`);
  }

  #checkGuards(): void {
    const { maxFailures = 'none' } = this.#sight.scenario.options;
    const failures = fedInSpiteOf(this.#entries, maxFailures);
    if (failures !== undefined) this.#fail(`the run goes on after ${failures}, and no guard has halted it`);
  }

  #checkResult(row: number, { outcome, unclear }: RowResult, told: string): void {
    const { scenario, datastore } = this.#sight;
    const { repeatable } = scenario;
    const done = this.#done.get(row) ?? 0;
    if (outcome === 'succeeded' && done === 0) this.#fail(`never carried out: ${told}`);
    if (done > 1 && !unclear) this.#fail(`repeated without a mark: ${told}`);
    if (done > 1 && !repeatable && datastore.emptied === 0)
      this.#fail(`repeated, which it must not be: ${told}`);
    if (outcome === 'failed' && done > 0 && !unclear) this.#fail(`carried out without a mark: ${told}`);
    const { mishaps, network, code } = scenario;
    const throws = code.operation > 0 || code.worker > 0;
    const isSteady = network.cut === 0 && network.slow === 0 && !throws;
    const isCalm = mishaps.every(leavesNoDoubt) && isSteady && !this.#doubtful.has(row);
    if (isCalm && unclear) this.#fail(`marked without a reason: ${told}`);
  }

  #readDurable(): JournalState {
    const { journal } = this.#sight;
    if (journal.cuts > this.#cuts) {
      this.#durable = new JournalState();
      this.#read = 0;
      this.#cuts = journal.cuts;
    }
    if (this.#read < journal.syncedLines) {
      for (const { entry, offset } of journal.entriesFrom(this.#read)) this.#durable.apply(entry, offset);
      this.#read = journal.syncedLines;
    }
    return this.#durable;
  }

  #fail(violation: string): void {
    this.#sight.fail(violation);
  }
}

/** Whether it is known afterwards which rows were called: their workers survived, and the datastore lost nothing. */
function leavesNoDoubt(mishap: Mishap): boolean {
  const { kind } = mishap;
  if (kind === 'kill' && (mishap.power?.lostBytes ?? 0) > 0) return false;
  if (kind === 'kill' || kind === 'freeze' || kind === 'stop') return mishap.victim === 'coordinator';
  return kind === 'command' || kind === 'disk full' || kind === 'copy';
}

/** The entry on which a row acts, from 1: also the first row that does. */
export function subjectOf({ subjects }: Scenario, row: number): number {
  return ((row - 1) % subjects) + 1;
}
