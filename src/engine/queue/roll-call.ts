import { steadyNow } from '../../base/async/clock.ts';
import { WaitReason } from '../../base/errors/error-throttle.ts';
import { type Datastore, isOfAnotherEpoch } from '../datastore/datastore.ts';
import type { BatchReturn } from './payload.ts';
import { mergeReturns, type Recollection } from './recollection.ts';
import type { Roster, Testimony } from './testimony.ts';

/** After this silence, a worker is dead. */
const silentMs = 15_000;
/** A living worker that does not testify for longer has an old version, or a call without end. */
const patienceMs = 120_000;

export function workersAwaited(): WaitReason {
  return new WaitReason(
    'Redis may have lost its last writes, so the run waits, two minutes at most, until its workers have said which rows they called',
  );
}

/**
 * Finds out what a datastore has forgotten: in a new epoch, awaits the testimony of each worker that was alive in the epoch before.
 *
 * ```
 * certain ──(another epoch)──▶ asking ──(all have testified)──▶ certain
 *                                └──(one is dead)──▶ certain of what was added from now on
 * ```
 */
export class RollCall {
  readonly #datastore: Pick<Datastore, 'connectionEpoch' | 'epoch'>;
  readonly #roster: Roster;
  /** Epochs of which this process saw all workers, and none died before it testified. */
  readonly #witnessed = new Set<string>();
  readonly #seenAt = new Map<string, number>();
  #lastUpdate = Number.NEGATIVE_INFINITY;
  /** What the last `readEpoch` found, and what the connection showed then. */
  #known: { readonly epoch: string | undefined; readonly connectionEpoch: string | undefined } | undefined;
  #epoch: string | undefined;
  #asking: { readonly workers: ReadonlySet<string>; readonly since: number } | undefined;
  readonly #testified = new Map<string, BatchReturn | null>();

  constructor(datastore: Pick<Datastore, 'connectionEpoch' | 'epoch'>, roster: Roster) {
    this.#datastore = datastore;
    this.#roster = roster;
  }

  /** Rows are fed to this epoch; undefined when unknown. */
  get knownEpoch(): string | undefined {
    return this.#known?.epoch;
  }

  /** `update` repeats this when the connection shows another epoch. */
  async readEpoch(): Promise<void> {
    const { connectionEpoch } = this.#datastore;
    this.#known = { epoch: await this.#datastore.epoch(), connectionEpoch };
  }

  /** Whether workers that the datastore has forgotten may have called the batch. */
  isOfAnother(epoch: string | undefined): boolean {
    return isOfAnotherEpoch(this.#datastore, epoch);
  }

  isAwaiting(epoch: string | undefined): boolean {
    return this.isOfAnother(epoch) && !this.#hasAllTestimonies;
  }

  get #hasAllTestimonies(): boolean {
    return this.#asking === undefined && this.#epoch === this.#datastore.connectionEpoch;
  }

  /** Undefined while workers are awaited. */
  recollect(id: string, epoch: string): Recollection | undefined {
    if (!this.#hasAllTestimonies) return undefined;
    return { testimony: this.#testified.get(id), isCertain: this.#witnessed.has(epoch) };
  }

  async update(): Promise<void> {
    if (this.#known?.connectionEpoch !== this.#datastore.connectionEpoch) await this.readEpoch();
    const { connectionEpoch: epoch } = this.#datastore;
    const present = await this.#roster.present();
    if (epoch === undefined || epoch !== this.#datastore.connectionEpoch) return;
    if (epoch !== this.#epoch) this.#ask(epoch, present);
    if (this.#asking !== undefined) await this.#readTestimonies(epoch, present);
    const now = steadyNow();
    for (const [worker, silence] of present) this.#seenAt.set(worker, now - silence);
    this.#lastUpdate = now;
  }

  #ask(epoch: string, present: ReadonlyMap<string, number>): void {
    // After a suspension, a worker may have come and died unseen.
    const sinceLook = Number.isFinite(this.#lastUpdate) ? steadyNow() - this.#lastUpdate : 0;
    const recentlySeen = [...this.#seenAt].filter(([, at]) => at > this.#lastUpdate - silentMs);
    const living = [...present].filter(([, silence]) => silence < silentMs + sinceLook);
    const workers = [...recentlySeen, ...living].map(([worker]) => worker);
    this.#asking = { workers: new Set([...(this.#asking?.workers ?? []), ...workers]), since: steadyNow() };
    this.#epoch = epoch;
  }

  async #readTestimonies(epoch: string, present: ReadonlyMap<string, number>): Promise<void> {
    const testimonies = await this.#roster.testimonies();
    // A datastore that was emptied since rows were fed to it has forgotten workers, too.
    const knowsAll = (await this.#datastore.epoch()) === this.knownEpoch;
    const asking = this.#asking;
    if (asking === undefined || epoch !== this.#datastore.connectionEpoch) return;
    const waitedMs = steadyNow() - asking.since;
    const silent = [...asking.workers].filter((worker) => testimonies.get(worker)?.epoch !== epoch);
    const isDead = (worker: string): boolean =>
      waitedMs > patienceMs || (waitedMs > silentMs && (present.get(worker) ?? silentMs) >= silentMs);
    if (!silent.every(isDead)) return;
    for (const testimony of testimonies.values()) if (testimony.epoch === epoch) this.#take(testimony);
    if (silent.length > 0) this.#witnessed.clear();
    if (knowsAll) this.#witnessed.add(epoch);
    this.#asking = undefined;
  }

  #take({ batches }: Testimony): void {
    for (const [id, value] of Object.entries(batches)) {
      const known = this.#testified.get(id);
      this.#testified.set(id, known && value ? mergeReturns(known, value) : (known ?? value));
    }
  }
}
