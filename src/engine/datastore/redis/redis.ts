import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { withTimeout } from '../../../base/async/waiting.ts';
import type { Datastore, RunScript } from '../datastore.ts';
import { describeAddress, type PasswordFile, parseRedisUrl, type RedisAddress } from './address.ts';
import { AnswerLimit, attempt, noteReasons, untilReady } from './attempt.ts';
import { backendFor } from './backend.ts';
import { type Inspection, inspect } from './checks.ts';
import { createRedisClient, type RedisClientOptions, rejectCommands } from './client.ts';
import { epochOf, watchEpoch } from './epoch.ts';
import { EvictionWatch } from './eviction.ts';
import { watchFailover } from './failover.ts';
import { dropCommand, type FailureContext } from './failure.ts';
import { Login } from './login.ts';
import { RedisTrouble } from './trouble.ts';

export interface RedisOptions {
  readonly url: string;
  /** The password, which overrides that of the address. */
  readonly password?: string | undefined;
  /** A file from which the password is read again when Redis refuses it. */
  readonly passwordFile?: PasswordFile | undefined;
  readonly sentinelPassword?: string | undefined;
  /** The prefix of all keys. Default `cqbatch`. */
  readonly prefix?: string;
  /** Whether Redis may delete keys when its memory is full. Default: false. */
  readonly mayEvict?: boolean | undefined;
  readonly purpose: string;
}

export interface OpenedRedis {
  readonly datastore: Datastore;
  /** Problems that do not prevent a run, each a sentence with the remedy. */
  readonly warnings: readonly string[];
}

const openingLimitMs = 5_000;
const closingLimitMs = 1_000;

/**
 * Opens and checks Redis. Once open, everything waits while Redis is away. The datastore is lost when a full disk has blocked writes for
 * some seconds, and when Redis evicts keys unless `mayEvict`.
 *
 * @throws a usage error `REDIS_URL`; within some seconds a fatal error `REDIS_…` with the reason and the remedy
 */
export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const context = contextOf(options);
  const limit = new AnswerLimit(openingLimitMs);
  try {
    return await openWithin(limit, context, options);
  } finally {
    limit.end();
  }
}

async function openWithin(
  limit: AnswerLimit,
  context: ReturnType<typeof contextOf>,
  options: RedisOptions,
): Promise<OpenedRedis> {
  const settings = {
    address: context.address,
    // Names of clients can't contain spaces.
    name: `cqbatch-${options.purpose}`.replaceAll(/[^\x21-\x7e]+/g, '-'),
    sentinelPassword: options.sentinelPassword,
    mayAskInfo: true,
  };
  const { mayEvict = false } = options;
  const inspection = await inspectFirst(context, { ...settings, role: 'probe' }, mayEvict, limit);
  settings.mayAskInfo = inspection.mayAskInfo;

  const failover = watchFailover({ ...settings, role: 'worker' });
  const losing = new AbortController();
  const login = new Login(options.passwordFile, (password) => context.secrets.push(password));
  const trouble = new RedisTrouble(
    context,
    () => login.readAgain(),
    (reason) => losing.abort(reason),
  );
  const follow = (client: Redis): void => {
    failover.add(client);
    login.keepIn(client);
  };
  const open = (role: 'worker' | 'producer'): Redis => {
    const client = createRedisClient({
      ...settings,
      role,
      onErrorReply: (error) => trouble.noteReply(error),
    });
    client.on('error', dropCommand);
    trouble.watch(client);
    follow(client);
    return client;
  };
  const connection = open('worker');
  const producerConnection = open('producer');
  const clients = [connection, producerConnection];
  const watchedEpoch = watchEpoch(connection);
  try {
    await Promise.all(clients.map((client) => attempt(client, context, limit, () => untilReady(client))));
  } catch (error) {
    failover.close();
    for (const client of clients) client.disconnect();
    throw error;
  }

  const evictions = new EvictionWatch(connection, {
    where: context.where,
    mayAskInfo: inspection.mayAskInfo,
    evictedBefore: inspection.evictedKeys,
    onEvicted: (reason) => mayEvict || losing.abort(reason),
  });

  let closing: Promise<unknown> | undefined;
  return {
    datastore: {
      description: `${inspection.server} at ${context.where}`,
      connection,
      producerConnection,
      backend: backendFor(inspection, follow, (error) => trouble.noteError(error)),
      prefix: context.prefix,
      exclusive: false,
      get trouble() {
        return trouble.text;
      },
      get refusal() {
        return trouble.refusal;
      },
      explainLoss: async () => (await evictions.reason())?.message,
      // An unreachable Redis may come back; a full disk, and a Redis that deletes keys, need a person.
      lost: losing.signal,
      epoch: () => epochOf(connection, context.prefix),
      get connectionEpoch() {
        return watchedEpoch.current();
      },
      onReconnect: watchedEpoch.onReconnect,
      runScript: scriptsOn(connection),
      async renew() {},
      async maintain() {},
      async close() {
        failover.close();
        evictions.close();
        closing ??= Promise.all(clients.map(closeClient));
        await closing;
      },
    },
    warnings: inspection.warnings,
  };
}

function contextOf({ url, password, passwordFile, sentinelPassword, prefix = 'cqbatch' }: RedisOptions) {
  const parsed = parseRedisUrl(url);
  const address: RedisAddress = password === undefined ? parsed : { ...parsed, password };
  return {
    where: describeAddress(address),
    address,
    // The prefix in braces, as in earlier versions, which work on the same keys.
    prefix: `{${prefix}}`,
    secrets: [address.password, sentinelPassword].filter((secret) => secret !== undefined),
    passwordPlace: passwordFile?.path ?? 'CQBATCH_QUEUE_PASSWORD',
  } satisfies FailureContext;
}

/** Asks over a separate connection, which gives up rather than wait. */
async function inspectFirst(
  context: FailureContext,
  settings: RedisClientOptions,
  mayEvict: boolean,
  limit: AnswerLimit,
): Promise<Inspection> {
  const client = createRedisClient(settings);
  try {
    return await attempt(client, context, limit, async (note) => {
      await untilReady(client).catch(async (error) => {
        await noteReasons(settings, note);
        throw error;
      });
      return inspect(client, context, mayEvict, () => note(new Error('LOADING')));
    });
  } finally {
    client.disconnect();
  }
}

async function closeClient(client: Redis): Promise<void> {
  if (client.status === 'ready') {
    const goodbye = client.quit().catch(() => {});
    await withTimeout(goodbye, closingLimitMs);
  }
  client.disconnect();
  // Commands for an unreachable Redis would wait forever.
  rejectCommands(client, 'Connection is closed.', { waiting: true });
}

/** Runs scripts by their digest; sends the text that Redis does not have. */
function scriptsOn(client: Redis): RunScript {
  const digests = new Map<string, string>();
  return async (script, keys, args) => {
    const digest = digests.get(script) ?? createHash('sha1').update(script).digest('hex');
    digests.set(script, digest);
    try {
      return await client.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return client.eval(script, keys.length, ...keys, ...args);
    }
  };
}
