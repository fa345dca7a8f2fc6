import type { Datastore } from './datastore.ts';
import type { SessionThread } from './embedded/session.ts';
import type { RedisOptions } from './redis/redis.ts';

/** Which datastore is wanted. */
export interface WantedDatastore {
  /** The shared one; absent: the embedded one of the state folder. */
  readonly redis?: Omit<RedisOptions, 'purpose'> | undefined;
  readonly stateDir: string;
  /** What it is opened for: a process that finds the embedded datastore in use shows it. */
  readonly purpose: string;
  /** What was prepared before. */
  readonly prepared?: PreparedDatastore | undefined;
}

/** What opening the embedded datastore can begin with before it is known whether it will be opened. */
export type PreparedDatastore = Promise<SessionThread>;

/** Has a thread load the embedded datastore. It touches no file of it, and keeps no process alive. */
export async function prepareEmbedded(): PreparedDatastore {
  const { startThread } = await import('./embedded/session.ts');
  return startThread();
}

/**
 * Opens a datastore. Only the code of the one that is wanted is loaded.
 *
 * @returns what is not as it should be beside it, for people
 * @throws a fatal error that says why it can't be used and what to do about it
 */
export async function openDatastore({
  redis,
  stateDir,
  purpose,
  prepared,
}: WantedDatastore): Promise<{ readonly datastore: Datastore; readonly warnings: readonly string[] }> {
  if (redis === undefined) {
    const { openEmbedded } = await import('./embedded/embedded.ts');
    return { datastore: await openEmbedded({ stateDir, purpose, thread: await prepared }), warnings: [] };
  }
  const { openRedis } = await import('./redis/redis.ts');
  return openRedis({ ...redis, purpose });
}

/**
 * The address of a shared datastore without its password, for records and people; undefined for the embedded one.
 *
 * @throws a usage error when it can't be understood
 */
export async function datastoreAddress(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const { describeAddress, parseRedisUrl } = await import('./redis/address.ts');
  return describeAddress(parseRedisUrl(url));
}
