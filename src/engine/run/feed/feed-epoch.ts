import { steadyNow } from '../../../base/async/clock.ts';
import { WaitReason } from '../../../base/errors/error-throttle.ts';
import { type Datastore, isOfAnotherEpoch } from '../../datastore/datastore.ts';
import { lockMs } from '../../queue/bullmq.ts';

/** Why nothing is fed after a loss. */
export function waitForUnawareWorkers(): WaitReason {
  return new WaitReason(
    'Redis has lost rows, or may have lost some in a restart, so these rows are marked as unclear; ' +
      `the run goes on in ${lockMs / 1_000} s at most, when no worker can begin a call of them any more`,
  );
}

/** The epoch of the datastore in which a coordinator feeds rows. */
export class FeedEpoch {
  readonly #datastore: Datastore;
  readonly #stopListening: () => void;
  /** The datastore's epoch by its connection. */
  #connectionEpoch: string | undefined;
  #name: string | undefined;
  #callableUntil = Number.NEGATIVE_INFINITY;

  /** @param onEnd called before anything is read that the datastore says in a later epoch */
  constructor(datastore: Datastore, onEnd: () => void) {
    this.#datastore = datastore;
    this.#connectionEpoch = datastore.connectionEpoch;
    this.#stopListening = datastore.onReconnect(() => {
      if (this.#isOver) onEnd();
    });
  }

  /** The name of the epoch. Undefined when unknown. */
  get name(): string | undefined {
    return this.#name;
  }

  async read(): Promise<void> {
    this.#name = await this.#datastore.epoch();
    this.#connectionEpoch ??= this.#datastore.connectionEpoch;
  }

  /** Whether the datastore has certainly lost nothing since rows were fed to it in this epoch. */
  isPresent(epoch: string | undefined): boolean {
    return epoch !== undefined && epoch === this.#name && !this.#isOver;
  }

  /** Whether the datastore may have forgotten calls of rows that were fed in this epoch. */
  isPast(epoch: string | undefined): boolean {
    return this.#isOver || (this.#name !== undefined && epoch !== this.#name);
  }

  /** Notes that the datastore has lost rows, or is in another epoch since a moment ago. */
  noteLoss(): void {
    // A worker that does not know of the loss can't renew its locks, and without its lock, it begins no call.
    if (!this.#datastore.exclusive) this.#callableUntil = steadyNow() + lockMs;
  }

  /** Whether a worker that does not know of the loss may begin calls of the lost rows. */
  get mayBeCalled(): boolean {
    return steadyNow() < this.#callableUntil;
  }

  close(): void {
    this.#stopListening();
  }

  get #isOver(): boolean {
    return isOfAnotherEpoch(this.#datastore, this.#connectionEpoch);
  }
}
