import { randomBytes } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './client.ts';

/** What `INFO` says of a server. */
interface ServerIds {
  readonly run_id?: string;
  readonly master_replid?: string;
}

/** A connection as ioredis checks it before it sends the first command, even one that an earlier connection left unanswered. */
interface CheckedNode {
  readonly connector: { check(info: ServerIds): boolean };
}

/**
 * The epoch that the connections of a client show. It consists of the server's start id, because a restart may lose recently
 * acknowledged writes, and the id of its data, which changes when it takes over another server's data. Both are in the `INFO` with
 * which ioredis begins each connection; a user who may not read it has no epoch.
 */
export function watchEpoch(client: RedisClient) {
  const epochs = new WeakMap<Redis, string>();
  const listeners = new Set<() => void>();
  const watch = (node: Redis): void => {
    const { connector } = node as unknown as CheckedNode;
    const check = connector.check.bind(connector);
    connector.check = (info) => {
      const { run_id: server, master_replid: data = '' } = info;
      if (server !== undefined) epochs.set(node, `${server}.${data}`);
      for (const listener of listeners) listener();
      return check(info);
    };
  };
  if (client instanceof Cluster) client.on('+node', watch);
  else watch(client);
  return {
    /** @param slot of all keys, in a Cluster */
    current(slot: number): string | undefined {
      const node = client instanceof Cluster ? nodeOf(client, slot) : client;
      return node && epochs.get(node);
    },
    onReconnect(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function nodeOf(client: Cluster, slot: number): Redis | undefined {
  const [key] = client.slots[slot] ?? [];
  return client.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === key);
}

/**
 * The epoch of Redis: the ids that its connections show, of every primary and as of now, and a key of ours, which disappears when all
 * keys are deleted.
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
