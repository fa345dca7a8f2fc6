import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { fatalError } from '../../errors.ts';
import type { RedisClient } from './client.ts';
import type { FailureContext } from './failure.ts';
import { isClusterNode, isLoading, judgeInfo, type ServerInfo } from './info.ts';

/** Facts about a checked Redis. */
export interface Inspection extends ServerInfo {
  /** Whether this user may run `INFO`. */
  readonly mayAskInfo: boolean;
}

/**
 * Checks whether the queue can use a Redis, by its `INFO` and by writing to it.
 *
 * @param onLoading called while Redis is loading its data
 * @throws a fatal error that says what must change; an error of the driver when the connection or a command fails
 */
export async function inspect(
  client: RedisClient,
  { where, address, prefix }: FailureContext,
  onLoading: () => void,
): Promise<Inspection> {
  if (client instanceof Cluster) {
    if (!(await isWorking(client))) throw new Error('CLUSTERDOWN');
    // If the database does not exist, ioredis itself would silently use database 0.
  } else if (address.db > 0) await client.select(address.db);
  const inspection = await inspectInfo(client, where, onLoading);
  // BullMQ needs scripts that write, and blocking reads; the read removes the written key.
  const key = `${prefix}:check`;
  await client.eval("redis.call('ZADD', KEYS[1], 0, '1') redis.call('EXPIRE', KEYS[1], 10)", 1, key);
  await client.bzpopmin(key, 0.01);
  return inspection;
}

/** Without slots, a Cluster has no nodes for ioredis. */
async function isWorking(cluster: Cluster): Promise<boolean> {
  return (
    cluster.nodes('master').length > 0 && !/^cluster_state:fail/m.test(String(await cluster.cluster('INFO')))
  );
}

async function inspectInfo(client: RedisClient, where: string, onLoading: () => void): Promise<Inspection> {
  const usable: ServerInfo[] = [];
  for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
    const text = await readInfo(node, onLoading);
    if (text === undefined) {
      return {
        server: 'Redis',
        version: undefined,
        evictionPolicy: undefined,
        mayAskInfo: false,
        warnings: [
          `Redis at ${where} does not allow this user to run INFO: version, role, memory policy and persistence could ` +
            'not be checked. Allow it with "ACL SETUSER <user> +info", or check them yourself.',
        ],
      };
    }
    if (!(client instanceof Cluster) && isClusterNode(text)) {
      throw fatalError(
        'REDIS_CLUSTER',
        `Redis at ${where} is part of a Cluster: write redis+cluster:// instead of redis://.`,
      );
    }
    usable.push(judgeInfo(text, where));
  }
  const [first] = usable;
  return {
    server: first?.server ?? 'Redis',
    version: first?.version,
    evictionPolicy:
      usable.map((node) => node.evictionPolicy).find((policy) => policy !== 'noeviction') ?? 'noeviction',
    mayAskInfo: true,
    warnings: [...new Set(usable.flatMap((node) => node.warnings))],
  };
}

/** The text of `INFO` once the data are loaded; undefined where forbidden. */
async function readInfo(node: Redis, onLoading: () => void): Promise<string | undefined> {
  for (;;) {
    try {
      const text = await node.info();
      if (!isLoading(text)) return text;
    } catch (error) {
      if (/^NOPERM\b|unknown command|not (allowed|permitted)/i.test((error as Error).message))
        return undefined;
      throw error;
    }
    onLoading();
    await pause(100);
  }
}
