import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './client.ts';

/**
 * The epoch of Redis. It consists of three parts for every primary: the server's start id, because a restart may lose recently
 * acknowledged writes; the id of its data, which changes when it takes over another server's data; and a key of ours, which
 * disappears when all keys are deleted.
 *
 * @returns undefined when this user may not read them
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
