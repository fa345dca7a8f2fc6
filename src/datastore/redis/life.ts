import { Cluster } from 'ioredis';
import type { RedisClient } from './client.ts';

/**
 * Which life of Redis this is: the id that a server draws when it starts (`run_id`), that of every primary of a
 * Cluster. A restart, or a failover to a replica, may lose what was acknowledged just before.
 *
 * @returns undefined when Redis does not let this user know.
 */
export async function lifeOf(client: RedisClient): Promise<string | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  try {
    const ids = await Promise.all(
      nodes.map(async (node) => /^run_id:(\w+)/m.exec(await node.info('server'))?.[1]),
    );
    return ids.includes(undefined) ? undefined : ids.sort().join('+');
  } catch {
    return undefined;
  }
}
