import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { FailureContext } from './failure.ts';
import { isLoading, judgeInfo, type ServerInfo } from './info.ts';

export interface Inspection extends ServerInfo {
  readonly mayAskInfo: boolean;
}

/**
 * Whether the queue can use a Redis, by its `INFO` and by writing to it.
 *
 * @throws a fatal error that says what must change; an error of the driver when the connection or a command fails
 */
export async function inspect(
  client: Redis,
  { where, address, prefix }: FailureContext,
  mayEvict: boolean,
  onLoading: () => void,
): Promise<Inspection> {
  // Without this check, ioredis would silently use database 0 if the chosen database does not exist.
  if (address.db > 0) await client.select(address.db);
  const inspection = await inspectInfo(client, where, mayEvict, onLoading);
  // BullMQ needs scripts that write, and blocking reads; the read removes the key.
  const key = `${prefix}:check`;
  await client.eval("redis.call('ZADD', KEYS[1], 0, '1') redis.call('EXPIRE', KEYS[1], 10)", 1, key);
  await client.bzpopmin(key, 0.01);
  return inspection;
}

async function inspectInfo(
  client: Redis,
  where: string,
  mayEvict: boolean,
  onLoading: () => void,
): Promise<Inspection> {
  const text = await readInfo(client, onLoading);
  if (text !== undefined) return { ...judgeInfo(text, where, mayEvict), mayAskInfo: true };
  return {
    server: 'Redis',
    version: undefined,
    evictionPolicy: undefined,
    evictedKeys: 0,
    mayAskInfo: false,
    warnings: [
      `Redis at ${where} does not allow this user to run INFO: version, role, memory policy and persistence could ` +
        'not be checked. Allow it with "ACL SETUSER <user> +info", or check them yourself.',
    ],
  };
}

/** The facts of `INFO`. Undefined where the user may not read them. */
async function readInfo(client: Redis, onLoading: () => void): Promise<string | undefined> {
  for (;;) {
    try {
      const text = await client.info();
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
