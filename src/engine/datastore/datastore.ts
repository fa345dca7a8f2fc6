import type { BackendFactory, IQueueBackend } from 'bullmq';
import type { CqbatchError } from '../../base/errors/errors.ts';

/** Code above this folder sees only BullMQ objects made from these options, so that a run is the same on every datastore. */
export interface Datastore {
  /** A name for people, without a password: `embedded (.cqbatch/queue)`, `Redis 7.0.15 at redis://10.0.0.7:6379/0`. */
  readonly description: string;
  /** The connection for BullMQ's constructors, which also get `backend` and `prefix`. */
  readonly connection: object;
  /** The connection for adding rows: it never repeats a command whose reply was lost, because the rows may have been called already. */
  readonly producerConnection: object;
  readonly backend: BackendFactory<IQueueBackend, object>;
  readonly prefix?: string;
  /** No other process can have a worker here: rows that are active when it opens were left by a dead process. */
  readonly exclusive: boolean;
  /** Why the datastore does not answer, perhaps only for a moment. */
  readonly trouble: string | undefined;
  /** The datastore answers, but refuses commands until a person acts (`trouble` says why). Absent on an exclusive datastore. */
  readonly refusal?: LastingRefusal | undefined;
  /** Why the datastore has lost single keys, and what to type; undefined when unknown. Absent on an exclusive datastore. */
  readonly explainLoss?: () => Promise<string | undefined>;
  /** Aborted with the reason when the datastore fails for good. */
  readonly lost: AbortSignal;
  /** A later epoch may have lost data that an earlier epoch acknowledged. Undefined when unknown. */
  epoch(): Promise<string | undefined>;
  /**
   * The part of the epoch that a connection shows: the server and its data. Known before the first reply on a new connection, and kept
   * while there is none. Undefined when unknown, and on an exclusive datastore.
   */
  readonly connectionEpoch: string | undefined;
  /**
   * @param listener called when `connectionEpoch` may have changed
   * @returns removes the listener
   */
  onReconnect(listener: () => void): () => void;
  /** Whether the datastore certainly holds no rows; absent on a shared datastore. */
  readonly isEmpty?: () => Promise<boolean>;
  /** Abandons rows fed in earlier epochs. Only for an exclusive datastore whose content was reconciled. */
  renew(): Promise<void>;
  /**
   * Runs a Lua script atomically, on keys that begin with `prefix`; waits while the datastore is unreachable. Absent on an exclusive
   * datastore.
   */
  readonly runScript?: RunScript;
  /** Keeps the datastore small and fast. Call it occasionally. */
  maintain(): Promise<void>;
  /**
   * Ends the database, while the datastore stays locked: takes a part of `close` forward that needs time. Afterwards only BullMQ objects and
   * the datastore may be closed. Absent on a shared datastore.
   */
  readonly endDatabase?: () => Promise<void>;
  /** Closes the datastore. Idempotent. Close BullMQ objects first. */
  close(): Promise<void>;
}

export const daemonPurpose = 'a daemon';

/** The datastore may have lost what it acknowledged in `epoch`. */
export function isOfAnotherEpoch(
  { connectionEpoch: now }: Pick<Datastore, 'connectionEpoch'>,
  epoch: string | undefined,
): boolean {
  return epoch !== undefined && now !== undefined && epoch !== now;
}

export interface LastingRefusal {
  readonly reason: CqbatchError;
  readonly forMs: number;
}

export type RunScript = (
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** A refused command did nothing. */
export function isRefusedCommand(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
