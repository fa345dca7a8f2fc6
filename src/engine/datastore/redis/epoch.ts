import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { isRefusedCommand } from '../datastore.ts';
import { evictedKeys } from './info.ts';

interface ServerIds {
  readonly run_id?: string;
  readonly master_replid?: string;
}

/** ioredis calls `check` on each new connection, before any command, even before those that an earlier connection left unanswered. */
interface CheckedConnection {
  readonly connector: { check(info: ServerIds): boolean };
}

/**
 * The epoch that connections show: the server's start id, because a restart may lose recently acknowledged writes, and the id of its data,
 * which changes when it takes over another server's data. Both are in the `INFO` with which ioredis begins each connection.
 */
export function watchEpoch(client: Redis) {
  let epoch: string | undefined;
  const listeners = new Set<() => void>();
  const { connector } = client as unknown as CheckedConnection;
  const check = connector.check.bind(connector);
  connector.check = (info) => {
    const { run_id: server, master_replid: data = '' } = info;
    if (server !== undefined) epoch = `${server}.${data}`;
    for (const listener of listeners) listener();
    return check(info);
  };
  return {
    current: (): string | undefined => epoch,
    onReconnect(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * Also has a key of ours, which disappears when all keys are deleted, and the number of keys that Redis has deleted to free memory.
 *
 * @returns undefined for a user who may not read `INFO`
 * @throws when the connection fails
 */
export async function epochOf(client: Redis, prefix: string): Promise<string | undefined> {
  try {
    const server = /^run_id:(\w+)/m.exec(await client.info('server'))?.[1];
    const evicted = evictedKeys(await client.info('stats'));
    const data = /^master_replid:(\w+)/m.exec(await client.info('replication'))?.[1];
    if (server === undefined) return undefined;
    const lost = evicted === 0 ? '' : `-${evicted}`;
    return `${await markOf(client, `${prefix}:epoch`)}${lost}+${server}.${data ?? ''}`;
  } catch (error) {
    if (isRefusedCommand(error)) return undefined;
    throw error;
  }
}

async function markOf(client: Redis, key: string): Promise<string> {
  await client.set(key, randomBytes(8).toString('hex'), 'NX');
  return String(await client.get(key));
}
