import { steadyNow } from '../../base/async/clock.ts';
import { after } from '../../base/async/waiting.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { BatchReturn } from './payload.ts';

/** Published by a worker once in each epoch: from then on it calls no rows of batches from another epoch. */
export interface Testimony {
  readonly epoch: string;
  /** Recent batches by id; null when their value was handed over long ago. */
  readonly batches: Readonly<Record<string, BatchReturn | null>>;
}

export interface Roster {
  /** Milliseconds since the last sign of life, by worker. */
  present(): Promise<ReadonlyMap<string, number>>;
  testimonies(): Promise<ReadonlyMap<string, Testimony>>;
}

/** An exclusive datastore forgets nothing without this process. */
export const emptyRoster: Roster = {
  present: async () => new Map(),
  testimonies: async () => new Map(),
};

interface KnownBatch {
  readonly epoch: string | undefined;
  isInHand: boolean;
  value: BatchReturn | null;
  at: number;
  /**
   * Whether no other worker can have had the batch after this one, in its epoch. A function while that may change: it asks the lock, and
   * keeps the batch with all its results in memory.
   */
  isLast: boolean | (() => boolean);
}

/** Longer than a coordinator takes to collect a batch. */
const keptMs = 600_000;
/** The datastore may lose handed-over values before the coordinator has read them. */
const keptValues = 25;
const againAfterMs = 1_000;

/** A worker's memory of its batches, for when the datastore forgets them. */
export class Witness {
  readonly #datastore: Datastore;
  readonly #testify: (testimony: Testimony) => Promise<void>;
  readonly #onError: (error: Error) => void;
  readonly #stopListening: () => void;
  /** Oldest first. */
  readonly #batches = new Map<string, KnownBatch>();
  readonly #handedOver = new Set<string>();
  #testifiedEpoch: string | undefined;
  #isTestifying = false;
  #isClosed = false;

  constructor(
    datastore: Datastore,
    testify: (testimony: Testimony) => Promise<void>,
    onError: (error: Error) => void,
  ) {
    this.#datastore = datastore;
    this.#testify = testify;
    this.#onError = onError;
    this.#stopListening = datastore.onReconnect(() => this.#onReconnect());
    this.#testifyIfDue();
  }

  began(id: string, epoch: string | undefined, isHeld: () => boolean): void {
    this.#prune();
    this.#batches.delete(id);
    this.#handedOver.delete(id);
    this.#batches.set(id, { epoch, isInHand: true, value: null, at: steadyNow(), isLast: isHeld });
  }

  /** The worker calls no more rows of it. */
  ended(id: string, value: BatchReturn): void {
    const batch = this.#batches.get(id);
    if (batch === undefined) return;
    Object.assign(batch, { isInHand: false, value, at: steadyNow() });
    this.#testifyIfDue();
  }

  /** @param isAccepted false: another worker has or had the batch. A value from another epoch is kept for the next testimony */
  handedOver(id: string, isAccepted: boolean): void {
    const batch = this.#batches.get(id);
    if (batch === undefined || batch.epoch !== this.#datastore.connectionEpoch) return;
    batch.isLast = isAccepted;
    this.#handedOver.add(id);
    const [oldest = ''] = this.#handedOver;
    if (this.#handedOver.size <= keptValues) return;
    this.#handedOver.delete(oldest);
    const forgotten = this.#batches.get(oldest);
    if (forgotten !== undefined) forgotten.value = null;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
  }

  /** What happened in an ended epoch no longer changes, but what is known of locks does. */
  #onReconnect(): void {
    for (const batch of this.#batches.values())
      if (batch.epoch !== this.#datastore.connectionEpoch) batch.isLast = isLastNow(batch);
    this.#testifyIfDue();
  }

  #prune(): void {
    for (const [id, { isInHand, at }] of this.#batches) {
      if (isInHand || at > steadyNow() - keptMs) return;
      this.#batches.delete(id);
    }
  }

  /** Testifies once the epoch has changed and no batch of another epoch is in hand. */
  #testifyIfDue(): void {
    const { connectionEpoch: epoch } = this.#datastore;
    if (this.#isClosed || this.#isTestifying || epoch === undefined || epoch === this.#testifiedEpoch) return;
    const all = [...this.#batches];
    if (all.some(([, batch]) => batch.isInHand && batch.epoch !== undefined && batch.epoch !== epoch)) return;
    this.#isTestifying = true;
    const batches: Record<string, BatchReturn | null> = {};
    for (const [id, batch] of all) {
      const { value } = batch;
      batches[id] = value && !isLastNow(batch) ? { ...value, isFound: true } : value;
    }
    void this.#testify({ epoch, batches })
      .then(
        () => {
          this.#testifiedEpoch = epoch;
        },
        (error: Error) => {
          this.#onError(error);
          return after(againAfterMs);
        },
      )
      .then(() => {
        this.#isTestifying = false;
        this.#testifyIfDue();
      });
  }
}

function isLastNow({ isLast }: KnownBatch): boolean {
  return typeof isLast === 'function' ? isLast() : isLast;
}
