import { steadyNow } from '../../base/async/clock.ts';
import { after } from '../../base/async/waiting.ts';
import type { Datastore } from '../datastore/datastore.ts';
import type { BatchReturn } from './payload.ts';

/** What a worker says, once in each epoch of the datastore: it calls no more rows of batches from another one. */
export interface Testimony {
  readonly epoch: string;
  /** The batches that it had lately, by id: what it knows of their rows; null when it handed that over long ago. */
  readonly batches: Readonly<Record<string, BatchReturn | null>>;
}

/** The workers of an API, as coordinators see them. */
export interface Roster {
  /** Milliseconds since the last sign of life of each worker that is not long gone, by worker. */
  present(): Promise<ReadonlyMap<string, number>>;
  /** The last testimony of each worker. */
  testimonies(): Promise<ReadonlyMap<string, Testimony>>;
}

/** Where no datastore can forget its last moments without this process. */
export const emptyRoster: Roster = {
  present: async () => new Map(),
  testimonies: async () => new Map(),
};

interface KnownBatch {
  readonly epoch: string | undefined;
  isInHand: boolean;
  value: BatchReturn | null;
  at: number;
}

/** How long the id of a batch is kept: a coordinator collects a batch long before. */
const keptMs = 600_000;
/** How many values a worker keeps after it handed them over: the datastore may forget them before their coordinator has read them. */
const keptValues = 25;
const againAfterMs = 1_000;

/** A worker's memory of its batches, for the case that the datastore forgets them. */
export class Witness {
  readonly #datastore: Datastore;
  readonly #testify: (testimony: Testimony) => Promise<void>;
  readonly #onError: (error: Error) => void;
  readonly #stopListening: () => void;
  /** The oldest first. */
  readonly #batches = new Map<string, KnownBatch>();
  /** The batches whose values were handed over and are kept, the oldest first. */
  readonly #handedOver = new Set<string>();
  #testified: string | undefined;
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
    this.#stopListening = datastore.onReconnect(() => this.#consider());
    this.#consider();
  }

  /** A batch is claimed. */
  began(id: string, epoch: string | undefined): void {
    this.#prune();
    this.#batches.delete(id);
    this.#handedOver.delete(id);
    this.#batches.set(id, { epoch, isInHand: true, value: null, at: steadyNow() });
  }

  /** None of its rows is called any more. */
  ended(id: string, value: BatchReturn): void {
    const batch = this.#batches.get(id);
    if (batch === undefined) return;
    Object.assign(batch, { isInHand: false, value, at: steadyNow() });
    this.#consider();
  }

  /** What is known of it was handed over. In another epoch, the testimony says it once more. */
  handedOver(id: string): void {
    if (this.#batches.get(id)?.epoch !== this.#datastore.connectionEpoch) return;
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

  #prune(): void {
    for (const [id, { isInHand, at }] of this.#batches) {
      if (isInHand || at > steadyNow() - keptMs) return;
      this.#batches.delete(id);
    }
  }

  /** Testifies when the epoch has changed, and no batch of another one is in hand. */
  #consider(): void {
    const { connectionEpoch: epoch } = this.#datastore;
    if (this.#isClosed || this.#isTestifying || epoch === undefined || epoch === this.#testified) return;
    const all = [...this.#batches];
    if (all.some(([, batch]) => batch.isInHand && batch.epoch !== undefined && batch.epoch !== epoch)) return;
    this.#isTestifying = true;
    const batches = Object.fromEntries(all.map(([id, { value }]) => [id, value]));
    void this.#testify({ epoch, batches })
      .then(
        () => {
          this.#testified = epoch;
        },
        (error: Error) => {
          this.#onError(error);
          return after(againAfterMs);
        },
      )
      .then(() => {
        this.#isTestifying = false;
        this.#consider();
      });
  }
}
