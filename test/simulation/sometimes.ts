import type { JournalEntry } from '../../src/engine/journal/line.ts';
import { decodeBatch, decodeLedgerEntry } from '../../src/engine/queue/payload.ts';
import type { FlowEntry } from './queue-model.ts';
import type { SimulatedFile } from './simulated-journal.ts';
import type { SimulatedProcess } from './world.ts';

/**
 * Rare states that a search for faults must meet: one that no longer meets them proves nothing about them. `npm run simulate` names those
 * that none of its runs has reached, and fails if it played enough runs to reach all.
 */
export const sometimes = [
  'a batch is claimed again',
  'a batch is claimed again while its first worker lives',
  'a batch is claimed for the third time',
  'a batch with open intents is taken over',
  'an intent without a call is taken over',
  'a batch is withdrawn before its first claim',
  'a batch is withdrawn while its worker calls',
  'a successor withdraws a batch',
  'a successor feeds a row that was fed before',
  'a row is fed for the third time',
  'a row is fed again with attempts used up',
  'a batch arrives from a dead coordinator',
  'an entry arrives from a dead worker',
  'a worker writes into a ledger after the withdrawal',
  'a worker writes into a ledger that another one has taken over',
  'a worker dies with a call in flight',
  'a worker dies between a change and its answer',
  'a worker freezes with a call in flight',
  'two workers call a row at a time',
  'a row is carried out twice',
  'a third worker calls a row',
  'a call is aborted',
  'the last worker dies while batches are open',
  'a coordinator dies while batches are open',
  'a coordinator dies before it has fed a row',
  'a coordinator dies while it drains',
  'a coordinator dies between a write and its sync',
  'a coordinator dies when it has just removed a batch',
  'a coordinator freezes for longer than a lock while batches are open',
  'a coordinator freezes during a write',
  'a third coordinator begins',
  'a coordinator begins while the datastore is away',
  'the journal loses lines that were synced',
  'the journal loses such lines a second time',
  'a power failure leaves half a line',
  'the disk is full while batches are open',
  'the datastore goes away while batches are open',
  'the datastore is emptied while batches are open',
  'the datastore loses a key with a batch',
  'an older copy lacks an open batch',
  'an older copy has a batch again that was collected',
  'a connection breaks while batches are open',
  'a pause finds calls in flight',
  'a cancellation finds calls in flight',
  'a stop of the coordinator finds calls in flight',
  'a stop of the worker finds calls in flight',
  'a new priority finds open batches',
  'the API refuses a call of a run that drains',
  'a guard halts a run',
  'a run goes on after its budget',
  'a canary ends a run',
  'a coordinator dies during a canary',
  'a run pauses after its canary',
  'a coordinator dies while its canary pauses the run',
  'a row that must not be repeated fails for that',
  'a row that must not be repeated fails because its result is lost',
  'a row is called again because its result may be lost',
  'a worker writes a result into a batch of another epoch',
  'a worker claims a batch of another epoch',
  'a row is refused while others are accepted',
  "a success can't be read",
  'a worker gives up before it has read a success',
  'the code of the operation throws',
  'the code of the worker throws',
] as const;

export type Sometimes = (typeof sometimes)[number];

interface SeenBatch {
  readonly addedBy: SimulatedProcess | undefined;
  readonly epoch: string | undefined;
  readonly rows: readonly number[];
  readonly claimers: SimulatedProcess[];
  /** Rows with an intent and no later entry. */
  readonly intents: Set<number>;
  isWithdrawn: boolean;
}

/** Notes which of the rare states a run has reached. It sees what happens, and decides nothing. */
export class Sightings {
  readonly seen = new Set<Sometimes>();
  readonly #journal: SimulatedFile;
  /** Batches in the datastore, and those that were removed from it. */
  readonly #batches = new Map<string, SeenBatch>();
  readonly #removed = new Map<string, SeenBatch>();
  readonly #feeders = new Map<number, Set<SimulatedProcess | undefined>>();
  readonly #fed = new Map<number, number>();
  readonly #callers = new Map<number, Set<SimulatedProcess>>();
  readonly #inFlight = new Map<SimulatedProcess, Set<number>>();
  readonly #carriedOut = new Set<number>();
  readonly #living = new Set<SimulatedProcess>();
  #coordinators = 0;
  #drains = false;
  #hasFed = false;

  constructor(journal: SimulatedFile) {
    this.#journal = journal;
  }

  note(state: Sometimes, isReached = true): void {
    if (isReached) this.seen.add(state);
  }

  get hasOpenBatches(): boolean {
    return this.#batches.size > 0;
  }

  get hasCallsInFlight(): boolean {
    return [...this.#inFlight].some(([worker, rows]) => !worker.isDead && rows.size > 0);
  }

  coordinatorBegins(isDatastoreAway: boolean): void {
    this.#coordinators += 1;
    this.#drains = false;
    this.#hasFed = false;
    this.note('a third coordinator begins', this.#coordinators === 3);
    this.note('a coordinator begins while the datastore is away', isDatastoreAway);
  }

  workerBegins(worker: SimulatedProcess): void {
    this.#living.add(worker);
  }

  workerLeaves(worker: SimulatedProcess): void {
    this.#living.delete(worker);
  }

  /** The coordinator is told to leave its rows. */
  drains(): void {
    this.#drains = true;
  }

  commanded(command: 'pause' | 'unpause' | 'cancel'): void {
    this.#drains = command !== 'unpause';
    const inFlight = this.hasCallsInFlight;
    this.note('a pause finds calls in flight', command === 'pause' && inFlight);
    this.note('a cancellation finds calls in flight', command === 'cancel' && inFlight);
  }

  added(entries: readonly FlowEntry[], writer: SimulatedProcess | undefined): void {
    const [{ jobId, jobData } = {}, child] = entries;
    if (jobId === undefined || child === undefined) return;
    this.note('a batch arrives from a dead coordinator', writer?.isDead);
    const { rows = [] } = JSON.parse(jobData?.data ?? '{}') as { rows?: readonly [number, number][] };
    const all = rows.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, n) => first + n),
    );
    if (!this.#batches.has(jobId)) for (const row of all) this.#feeds(row, writer);
    const { tasks, epoch } = decodeBatch(JSON.parse(child.jobData.data));
    this.note(
      'a row is fed again with attempts used up',
      tasks.some(({ attemptsUsed = 0 }) => attemptsUsed > 0),
    );
    this.note(
      'a row is called again because its result may be lost',
      tasks.some(({ history }) => history?.lastCode === 'RESULT_LOST'),
    );
    this.#hasFed = true;
    this.#batches.set(jobId, {
      addedBy: writer,
      epoch,
      rows: all,
      claimers: [],
      intents: new Set(),
      isWithdrawn: false,
    });
  }

  #feeds(row: number, by: SimulatedProcess | undefined): void {
    const feeders = this.#feeders.get(row) ?? new Set();
    this.note('a successor feeds a row that was fed before', feeders.size > 0 && !feeders.has(by));
    this.#feeders.set(row, feeders.add(by));
    const times = (this.#fed.get(row) ?? 0) + 1;
    this.#fed.set(row, times);
    this.note('a row is fed for the third time', times === 3);
  }

  /** @param epoch the present one of the datastore */
  logged(id: string, text: string, writer: SimulatedProcess | undefined, epoch: string): void {
    const batch = this.#batches.get(id);
    if (batch === undefined || writer === undefined) return;
    const entry = decodeLedgerEntry(text);
    const { claimers, intents } = batch;
    if (entry.type === 'withdraw') {
      batch.isWithdrawn = true;
      this.note('a batch is withdrawn before its first claim', claimers.length === 0);
      this.note('a batch is withdrawn while its worker calls', this.#calls(claimers.at(-1), batch));
      this.note('a successor withdraws a batch', writer !== batch.addedBy);
      return;
    }
    this.note('an entry arrives from a dead worker', writer.isDead);
    const hasResults = entry.type === 'work' && entry.results !== undefined;
    this.note('a worker writes a result into a batch of another epoch', hasResults && batch.epoch !== epoch);
    if (entry.type === 'begin') {
      const former = claimers.at(-1);
      this.note('a batch is claimed again', former !== undefined);
      this.note(
        'a batch is claimed again while its first worker lives',
        former !== undefined && !former.isDead,
      );
      this.note('a batch is claimed for the third time', claimers.length === 2);
      this.note('a batch with open intents is taken over', intents.size > 0);
      this.note(
        'an intent without a call is taken over',
        [...intents].some((row) => !this.#callers.has(row)),
      );
      claimers.push(writer);
      intents.clear();
      return;
    }
    this.note('a worker writes into a ledger after the withdrawal', batch.isWithdrawn);
    this.note('a worker writes into a ledger that another one has taken over', writer !== claimers.at(-1));
    for (const { row } of [...(entry.results ?? []), ...(entry.unfinished ?? [])]) intents.delete(row);
    for (const row of entry.intents ?? []) intents.add(row);
  }

  claimed(id: string, epoch: string): void {
    const batch = this.#batches.get(id);
    this.note('a worker claims a batch of another epoch', batch !== undefined && batch.epoch !== epoch);
  }

  /** A job of a worker leaves the datastore. */
  removed(id: string): void {
    const batch = this.#batches.get(id);
    if (batch !== undefined) this.#removed.set(id, batch);
    this.#batches.delete(id);
  }

  sent(row: number, worker: SimulatedProcess): void {
    const callers = this.#callers.get(row) ?? new Set();
    this.note(
      'two workers call a row at a time',
      this.#callersNow(row).some((other) => other !== worker),
    );
    this.#callers.set(row, callers.add(worker));
    this.note('a third worker calls a row', callers.size === 3);
    this.#inFlight.set(worker, (this.#inFlight.get(worker) ?? new Set()).add(row));
  }

  done(row: number): void {
    this.note('a row is carried out twice', this.#carriedOut.has(row));
    this.#carriedOut.add(row);
  }

  answered(row: number, worker: SimulatedProcess, code: string): void {
    this.#inFlight.get(worker)?.delete(row);
    this.note('a call is aborted', code === 'INTERRUPTED');
    this.note('the API refuses a call of a run that drains', this.#drains && code === 'RESOURCE_EXHAUSTED');
  }

  /** A process is about to die. */
  dies(process: SimulatedProcess): void {
    if (this.#living.delete(process)) this.#workerDies(process);
    else this.#coordinatorDies();
  }

  #workerDies(worker: SimulatedProcess): void {
    const inFlight = [...(this.#inFlight.get(worker) ?? [])];
    this.note('a worker dies with a call in flight', inFlight.length > 0);
    this.note(
      'a worker dies between a change and its answer',
      inFlight.some((row) => this.#carriedOut.has(row)),
    );
    this.note('the last worker dies while batches are open', this.#living.size === 0 && this.hasOpenBatches);
  }

  #coordinatorDies(): void {
    const { text, synced } = this.#journal;
    this.note('a coordinator dies while batches are open', this.hasOpenBatches);
    this.note('a coordinator dies before it has fed a row', this.#coordinators > 1 && !this.#hasFed);
    this.note('a coordinator dies while it drains', this.#drains && this.hasOpenBatches);
    this.note('a coordinator dies between a write and its sync', text.length > synced);
  }

  losesPower(): void {
    const { cuts, text } = this.#journal;
    this.note('the journal loses lines that were synced', cuts > 0);
    this.note('the journal loses such lines a second time', cuts > 1);
    this.note('a power failure leaves half a line', !text.endsWith('\n'));
  }

  /** The datastore now has the jobs with these ids. */
  replaced(ids: ReadonlySet<string>): void {
    for (const id of [...this.#batches.keys()]) {
      if (ids.has(id)) continue;
      this.note(
        ids.size > 0
          ? 'an older copy lacks an open batch'
          : 'the datastore is emptied while batches are open',
      );
      this.removed(id);
    }
    for (const [id, batch] of this.#removed) {
      if (!ids.has(id)) continue;
      this.note('an older copy has a batch again that was collected');
      this.#batches.set(id, batch);
    }
  }

  ended(entries: readonly JournalEntry[]): void {
    const results = entries.flatMap((entry) => (entry.type === 'row' ? [entry.result] : []));
    const ends = (code: string) => results.some((result) => result.code === code);
    this.note('a row that must not be repeated fails for that', ends('NOT_REPEATED'));
    this.note('a row that must not be repeated fails because its result is lost', ends('RESULT_LOST'));
    this.note('a row is refused while others are accepted', ends('RESOURCE_EXHAUSTED'));
  }

  isCalling(worker: SimulatedProcess): boolean {
    return (this.#inFlight.get(worker)?.size ?? 0) > 0;
  }

  #calls(worker: SimulatedProcess | undefined, { rows }: SeenBatch): boolean {
    const inFlight = worker && !worker.isDead ? this.#inFlight.get(worker) : undefined;
    return inFlight !== undefined && rows.some((row) => inFlight.has(row));
  }

  #callersNow(row: number): readonly SimulatedProcess[] {
    return [...this.#inFlight]
      .filter(([worker, rows]) => !worker.isDead && rows.has(row))
      .map(([worker]) => worker);
  }
}
