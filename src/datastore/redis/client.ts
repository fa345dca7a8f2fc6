import { isIP, type Socket } from 'node:net';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './address.ts';

export type RedisClient = Redis | Cluster;

type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>;

/**
 * `probe`: gives up at the first failure. `worker`: waits for Redis however long it is unreachable, and sends again what it
 * got no reply to. `producer`: waits likewise, but never sends anything twice.
 */
export type Role = 'probe' | 'worker' | 'producer';

export interface RedisClientOptions {
  readonly address: RedisAddress;
  readonly sentinelPassword?: string | undefined;
  readonly role: Role;
  /** Its name in `CLIENT LIST`. */
  readonly name: string;
  /** Whether this user may ask `INFO`: only then can a Redis that is loading its data be waited for. */
  readonly mayAskInfo: boolean;
  /** Is told each error that Redis replies. */
  readonly onErrorReply?: (error: Error) => void;
}

const connectTimeoutMs = 4_000;
/** A connection that has not answered a question for that long is dead. Workers block for 10 s at most. */
const silenceLimitMs = 30_000;

/** Makes a client, which begins to connect at once, a `probe` when told to. It always has a listener for errors. */
export function createRedisClient(options: RedisClientOptions): RedisClient {
  const { address } = options;
  const client =
    address.kind === 'cluster' ? clusterClient(address, options) : singleClient(address, options);
  // Node ends the process over an error event without a listener; code that wants to know adds its own.
  client.on('error', () => {});
  // ioredis does not send again what a lost connection left unanswered if told so, but it does not say so either: the commands
  // would stay pending for good. A Cluster needs no help, as it ends the connections to its nodes.
  if (options.role === 'producer')
    client.on('close', () =>
      rejectCommands(client, 'The connection to Redis was lost before it replied.', { waiting: false }),
    );
  corkTurns(client);
  return client;
}

/** Rejects what was asked and not answered, and with `waiting` what was not sent yet either. */
export function rejectCommands(
  client: RedisClient,
  message: string,
  which: { readonly waiting: boolean },
): void {
  const { flushQueue } = client as unknown as {
    flushQueue(
      this: RedisClient,
      error: Error,
      queues: { offlineQueue: boolean; commandQueue: boolean },
    ): void;
  };
  if (!(client instanceof Cluster) || which.waiting) {
    flushQueue.call(client, new Error(message), { offlineQueue: which.waiting, commandQueue: true });
  }
}

/**
 * Has a client end also when it is told to between two tries to connect. ioredis then gives up in silence, and BullMQ, which
 * ends the connection over which a worker waits before it closes it, would wait for its last word for good.
 */
export function endBetweenTries(client: RedisClient): void {
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    // As ioredis calls a connection that is yet to be made: it ends that at once, and says so.
    if (client.status === 'reconnecting' && !reconnect) client.status = 'wait';
    disconnect(reconnect);
  };
}

function singleClient(address: Exclude<RedisAddress, ClusterAddress>, options: RedisClientOptions): Redis {
  const { role } = options;
  const persistent = role !== 'probe';
  const settings = {
    ...commonSettings(options),
    db: address.db,
    retryStrategy: persistent ? retryDelay : () => null,
  } satisfies RedisOptions;
  switch (address.kind) {
    case 'server':
      return new Redis({ ...settings, ...address.endpoint });
    case 'socket':
      return new Redis({ ...settings, path: address.path });
    case 'sentinel':
      return new Redis({
        ...settings,
        sentinels: address.sentinels.map((endpoint) => ({ ...endpoint })),
        name: address.name,
        ...(address.sentinelUsername !== undefined && { sentinelUsername: address.sentinelUsername }),
        ...(options.sentinelPassword !== undefined && {
          sentinelUsername: address.sentinelUsername ?? 'default',
          sentinelPassword: options.sentinelPassword,
        }),
        ...(address.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        // Without a delay the connection would end for good once no Sentinel answers.
        sentinelRetryStrategy: persistent ? retryDelay : () => null,
        sentinelCommandTimeout: connectTimeoutMs,
      });
  }
}

function clusterClient(address: ClusterAddress, options: RedisClientOptions): Cluster {
  const { role } = options;
  const settings = {
    redisOptions: commonSettings(options),
    lazyConnect: role === 'probe',
    // The check of the probe says more.
    enableReadyCheck: role !== 'probe',
    clusterRetryStrategy: role === 'probe' ? () => null : retryDelay,
    slotsRefreshTimeout: connectTimeoutMs,
    // A command waits for a failover as long as a primary is missed, some 60 s in all, rather than fail after two.
    maxRedirections: role === 'probe' ? 16 : 300,
    retryDelayOnClusterDown: 200,
    // What a lost node did not answer is sent again after this time; 0 rejects it.
    retryDelayOnFailover: role === 'worker' ? 200 : 0,
    // Certificates are made out to names, not to the addresses that they resolve to.
    ...(address.tls && { dnsLookup: (name, callback) => callback(null, name) }),
  } satisfies ClusterOptions;
  return new Cluster(
    address.nodes.map((endpoint) => ({ ...endpoint })),
    settings,
  );
}

function commonSettings({ address, role, name, mayAskInfo, onErrorReply }: RedisClientOptions) {
  return {
    ...(address.password !== undefined && {
      // Named, because with a bare password ioredis prints a warning where Redis has no password.
      username: address.username ?? 'default',
      password: address.password,
    }),
    ...(address.tls && { tls: tlsSettings(address) }),
    lazyConnect: role === 'probe',
    connectionName: name,
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: 500,
    keepAlive: 10_000,
    socketTimeout: silenceLimitMs,
    // The version of the protocol that BullMQ is tested with.
    protocol: 2,
    maxRetriesPerRequest: null,
    enableReadyCheck: role !== 'probe' && mayAskInfo,
    maxLoadingRetryTime: 1_000,
    autoResendUnfulfilledCommands: role !== 'producer',
    reconnectOnError: (error: Error) => {
      onErrorReply?.(error);
      return reconnectOn(error, role);
    },
  } satisfies RedisOptions;
}

/**
 * After a failover behind a name, the connection still leads to the old primary: a new one leads to the new primary.
 * Nothing was done yet, so that a worker's command goes there (2), rather than fail a row that succeeded.
 *
 * A transaction that was refused takes with it the scripts in it, which ioredis believes to be loaded from then on:
 * all later ones would fail. With a new connection it loads them again.
 */
function reconnectOn({ message }: Error, role: Role): false | 1 | 2 {
  if (role === 'probe') return false;
  if (/\bREADONLY\b|^LOADING\b/.test(message)) return role === 'worker' ? 2 : 1;
  return /^EXECABORT\b/.test(message) ? 1 : false;
}

function tlsSettings(address: RedisAddress): { servername?: string } {
  return address.kind === 'server' && isIP(address.endpoint.host) === 0
    ? { servername: address.endpoint.host }
    : {};
}

function retryDelay(times: number): number {
  return Math.min(times * 100, 2_000);
}

/**
 * Has a client send together what it is asked within one turn of the event loop: writing to a socket takes longer than
 * all else that is done for a command. It waits for the end of the turn at most.
 */
export function corkTurns(client: RedisClient): void {
  if (client instanceof Cluster) client.on('+node', (node: Redis) => corkTurns(node));
  // Every new connection has a new socket.
  else client.on('connect', () => corkSocket(client.stream));
}

/** From now on the first write of a turn holds all of them back until its end. Closing the socket sends them at once. */
function corkSocket(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let corked = false;
  const uncork = (): void => {
    corked = false;
    socket.uncork();
  };
  socket.write = (...args: unknown[]) => {
    if (!corked) {
      corked = true;
      socket.cork();
      setImmediate(uncork);
    }
    return write(...args);
  };
}
