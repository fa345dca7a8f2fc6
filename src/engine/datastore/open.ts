import type { Datastore } from './datastore.ts';
import type { ConnectionThread } from './embedded/connection.ts';
import type { RedisOptions } from './redis/redis.ts';

export interface WantedDatastore {
  /** The shared datastore. Absent: the embedded datastore of the state folder. */
  readonly redis?: Omit<RedisOptions, 'purpose'> | undefined;
  readonly stateDir: string;
  /** What this process does, shown to processes that find the embedded datastore in use. */
  readonly purpose: string;
  readonly prepared?: PreparedDatastore | undefined;
}

export type PreparedDatastore = Promise<ConnectionThread>;

/** Loads the embedded datastore in a thread, without touching files or keeping the process alive. */
export async function prepareEmbedded(): PreparedDatastore {
  const { startThread } = await import('./embedded/connection.ts');
  return startThread();
}

/**
 * Loads only the code of the datastore that it opens.
 *
 * @throws a fatal error with the reason and the remedy
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
 * Without the password; undefined for the embedded datastore.
 *
 * @throws a usage error for an invalid address
 */
export async function datastoreAddress(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const { describeAddress, parseRedisUrl } = await import('./redis/address.ts');
  return describeAddress(parseRedisUrl(url));
}
