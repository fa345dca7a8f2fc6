import type { Datastore } from './datastore.ts';
import type { RedisOptions } from './redis/redis.ts';

/** Which datastore is wanted. */
export interface WantedDatastore {
  /** The shared one; absent: the embedded one of the state folder. */
  readonly redis?: Omit<RedisOptions, 'purpose'> | undefined;
  readonly stateDir: string;
  /** What it is opened for, for whoever finds the embedded one taken. */
  readonly purpose: string;
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
}: WantedDatastore): Promise<{ readonly datastore: Datastore; readonly warnings: readonly string[] }> {
  if (redis === undefined) {
    const { openEmbedded } = await import('./embedded/embedded.ts');
    return { datastore: await openEmbedded({ stateDir, purpose }), warnings: [] };
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
