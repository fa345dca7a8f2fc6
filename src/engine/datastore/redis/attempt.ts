import type { Redis } from 'ioredis';
import { CqbatchError } from '../../../base/errors/errors.ts';
import { sentinelsOf } from './address.ts';
import { createRedisClient, type RedisClientOptions } from './client.ts';
import { explainFailure, type FailureContext } from './failure.ts';

const failureEvents = ['error', 'sentinelError'] as const;

/**
 * @param until by `performance.now`
 * @param work passes errors that explain a delay to `note`
 * @throws the explanation of a failure
 */
export async function attempt<Result>(
  client: Redis,
  context: FailureContext,
  until: number,
  work: (note: (error: Error) => void) => Promise<Result>,
): Promise<Result> {
  const errors: unknown[] = [];
  const note = (error: unknown): void => void errors.push(error);
  for (const event of failureEvents) client.on(event, note);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const isConnected = ['connect', 'ready'].includes(client.status);
        reject(new Error(isConnected ? 'connected, but no reply' : 'timed out'));
      },
      Math.max(0, until - performance.now()),
    );
  });
  try {
    return await Promise.race([work(note), late]);
  } catch (error) {
    if (error instanceof CqbatchError) throw error;
    throw explainFailure([...errors, error], context);
  } finally {
    clearTimeout(timer);
    for (const event of failureEvents) client.off(event, note);
  }
}

/** Resolves when the client is ready, rejects when it has given up. */
export async function untilReady(client: Redis): Promise<void> {
  if (client.status === 'wait') client.connect().catch(() => {});
  if (client.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    client.once('end', () => reject(new Error('Connection is closed.')));
  });
}

/** For Sentinels, ioredis reports only a closed connection: passes the reasons of each to `note`. */
export async function noteReasons(options: RedisClientOptions, note: (error: Error) => void): Promise<void> {
  await Promise.all(
    sentinelsOf(options.address, options.sentinelPassword).map(async (address) => {
      const client = createRedisClient({ ...options, address });
      client.on('error', note);
      await untilReady(client).catch(() => {});
      client.disconnect();
    }),
  );
}
