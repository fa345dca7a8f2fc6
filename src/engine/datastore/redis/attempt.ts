import type { Redis } from 'ioredis';
import { deferred } from '../../../base/async/waiting.ts';
import { CqbatchError } from '../../../base/errors/errors.ts';
import { sentinelsOf } from './address.ts';
import { createRedisClient, type RedisClientOptions } from './client.ts';
import { explainFailure, type FailureContext } from './failure.ts';

const failureEvents = ['error', 'sentinelError'] as const;

const stepMs = 100;

/**
 * A time limit for answers. Time in which this process stands still counts as one step: on a busy machine, an answer may have arrived that
 * the process could not read yet.
 */
export class AnswerLimit {
  readonly passed: Promise<void>;
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    const { promise, resolve } = deferred();
    this.passed = promise;
    let leftMs = milliseconds;
    this.#timer = setInterval(() => {
      leftMs -= stepMs;
      if (leftMs <= 0) resolve();
    }, stepMs);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

/**
 * @param work passes errors that explain a delay to `note`
 * @throws the explanation of a failure
 */
export async function attempt<Result>(
  client: Redis,
  context: FailureContext,
  limit: AnswerLimit,
  work: (note: (error: Error) => void) => Promise<Result>,
): Promise<Result> {
  const errors: unknown[] = [];
  const note = (error: unknown): void => void errors.push(error);
  for (const event of failureEvents) client.on(event, note);
  const late = limit.passed.then(() => {
    const isConnected = ['connect', 'ready'].includes(client.status);
    throw new Error(isConnected ? 'connected, but no reply' : 'timed out');
  });
  try {
    return await Promise.race([work(note), late]);
  } catch (error) {
    if (error instanceof CqbatchError) throw error;
    throw explainFailure([...errors, error], context);
  } finally {
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
