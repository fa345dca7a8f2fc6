import type { BackendFactory, IQueueBackend } from 'bullmq';

/**
 * What BullMQ stores jobs in. Everything above this folder sees only BullMQ objects made from these options, so that
 * a run is the same on every datastore.
 */
export interface Datastore {
  readonly kind: 'embedded';
  /** For people: `embedded (.cqbatch/queue)`. */
  readonly description: string;
  /** Handed to BullMQ's constructors as `connection`, together with `backend`. */
  readonly connection: object;
  readonly backend: BackendFactory<IQueueBackend, object>;
  /**
   * Whether no other process can have a worker on this datastore. A row that is active when it is opened was then
   * left behind by a process that died.
   */
  readonly exclusive: boolean;
  /** Resolves with the reason when the datastore fails for good; never settles otherwise. */
  readonly lost: Promise<Error>;
  /** Keeps the datastore small and quick; to be called now and then while jobs come and go. */
  maintain(): Promise<void>;
  /** Idempotent. BullMQ objects must be closed before. */
  close(): Promise<void>;
}
