import type { BackendFactory, IQueueBackend } from 'bullmq';

/**
 * What BullMQ stores jobs in. Everything above this folder sees only BullMQ objects made from these options, so that
 * a run is the same on every datastore.
 */
export interface Datastore {
  /** For people, never with a password: `embedded (.cqbatch/queue)`, `Redis 7.0.15 at redis://10.0.0.7:6379/0`. */
  readonly description: string;
  /** Handed to BullMQ's constructors as `connection`, together with `backend` and `prefix`. */
  readonly connection: object;
  /**
   * For what adds rows. A command whose reply was lost is never repeated on it: the rows may have been added,
   * called and removed since, and adding them again would call them twice.
   */
  readonly producerConnection: object;
  readonly backend: BackendFactory<IQueueBackend, object>;
  /** BullMQ's `prefix` of all keys, where the datastore is shared with others. */
  readonly prefix?: string;
  /**
   * Whether no other process can have a worker on this datastore. A row that is active when it is opened was then
   * left behind by a process that died.
   */
  readonly exclusive: boolean;
  /** What keeps it from answering at the moment, in words; undefined while all is well. It may pass. */
  readonly trouble: string | undefined;
  /** Resolves with the reason when the datastore fails for good; never settles otherwise. */
  readonly lost: Promise<Error>;
  /**
   * Which epoch of the datastore this is, as an opaque text: another one may have lost something that an earlier one
   * had acknowledged. Undefined when that is not known.
   */
  epoch(): Promise<string | undefined>;
  /** Whether it surely holds nothing of any run; absent where the datastore is shared. */
  readonly isEmpty?: () => Promise<boolean>;
  /**
   * Begins another epoch: what was fed to an earlier one is never looked for again. Only where it is exclusively
   * ours, and what it holds has been reconciled.
   */
  renew(): Promise<void>;
  /**
   * Runs a Lua script at once and whole, on keys that begin with `prefix`; absent where the datastore is exclusively ours.
   * While the datastore is unreachable, it waits.
   */
  readonly runScript?: RunScript;
  /** Keeps the datastore small and quick; to be called now and then while jobs come and go. */
  maintain(): Promise<void>;
  /** Idempotent. BullMQ objects must be closed before. */
  close(): Promise<void>;
}

export type RunScript = (
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;
