import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './client.ts';

/**
 * Which epoch of Redis this is. Three things tell, of every primary: the id that a server draws when it starts,
 * because a restart may lose what was acknowledged just before; the id of its data, which changes when it takes over those
 * of another server; and a key of ours, which is gone with all others when they are deleted.
 *
 * @returns undefined when Redis does not let this user know.
 */
export async function epochOf(client: RedisClient, prefix: string): Promise<string | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  try {
    const ids = await Promise.all(
      nodes.map(async (node) => {
        const server = /^run_id:(\w+)/m.exec(await node.info('server'))?.[1];
        const data = /^master_replid:(\w+)/m.exec(await node.info('replication'))?.[1];
        return server && `${server}.${data ?? ''}`;
      }),
    );
    if (ids.includes(undefined)) return undefined;
    return [await markOf(client, `${prefix}:epoch`), ...ids.sort()].join('+');
  } catch {
    return undefined;
  }
}

async function markOf(client: RedisClient, key: string): Promise<string> {
  await client.set(key, randomBytes(8).toString('hex'), 'NX');
  return String(await client.get(key));
}
