import { isIP, type Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './address.ts';
import { mendTransactions } from './transactions.ts';

/**
 * `probe`: gives up at the first failure. `worker`: waits for an unreachable Redis, and repeats commands without a reply. `producer`:
 * waits, but never sends anything twice.
 */
export type Role = 'probe' | 'worker' | 'producer';

export interface RedisClientOptions {
  readonly address: RedisAddress;
  readonly sentinelPassword?: string | undefined;
  readonly role: Role;
  /** The name of the connection in `CLIENT LIST`. */
  readonly name: string;
  /** Whether to wait for a Redis that is loading its data, which requires `INFO`. */
  readonly mayAskInfo: boolean;
  readonly onErrorReply?: (error: Error) => void;
}

const connectTimeoutMs = 4_000;
/** A connection that is silent for longer is dead: workers block for at most 10 s. */
const silenceLimitMs = 30_000;

/** Makes a client. A `worker` and a `producer` connect at once, a `probe` on request. */
export function createRedisClient(options: RedisClientOptions): Redis {
  const client = new Redis({ ...commonSettings(options), ...placeSettings(options) });
  // Node ends the process for an unhandled error event.
  client.on('error', () => {});
  // ioredis does not reject commands of a lost connection that it must not repeat: they would stay pending forever.
  if (options.role === 'producer')
    client.on('close', () =>
      rejectCommands(client, 'The connection to Redis was lost before it replied.', { waiting: false }),
    );
  mendTransactions(client, (error) => {
    if (reconnectAfter(error, options) !== false) client.disconnect(true);
  });
  corkTurns(client);
  reconnectOnce(client);
  return client;
}

/** Rejects commands without a reply; with `waiting` also those not sent. */
export function rejectCommands(client: Redis, message: string, which: { readonly waiting: boolean }): void {
  const queues = client as unknown as {
    flushQueue(error: Error, queues: { offlineQueue: boolean; commandQueue: boolean }): void;
  };
  queues.flushQueue(new Error(message), { offlineQueue: which.waiting, commandQueue: true });
}

/**
 * Makes `disconnect` work between two attempts to connect. ioredis then gives up without an event, for which BullMQ would wait forever when
 * it closes a worker.
 */
export function endBetweenTries(client: Redis): void {
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    // In this state, as before the first attempt, ioredis ends the connection with an event.
    if (client.status === 'reconnecting' && !reconnect) client.status = 'wait';
    disconnect(reconnect);
  };
}

/** Each refused command makes ioredis end the connection, with one more listener on its socket. */
function reconnectOnce(client: Redis): void {
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    if (!reconnect || client.stream?.writableEnded !== true) disconnect(reconnect);
  };
}

function placeSettings({ address, sentinelPassword, role }: RedisClientOptions) {
  switch (address.kind) {
    case 'server':
      return address.endpoint;
    case 'socket':
      return { path: address.path };
    case 'sentinel':
      return {
        sentinels: address.sentinels.map((endpoint) => ({ ...endpoint })),
        name: address.name,
        ...(address.sentinelUsername !== undefined && { sentinelUsername: address.sentinelUsername }),
        ...(sentinelPassword !== undefined && {
          sentinelUsername: address.sentinelUsername ?? 'default',
          sentinelPassword,
        }),
        ...(address.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        // Without a delay, the connection would end for good when no Sentinel answers.
        sentinelRetryStrategy: retriesOf(role),
        sentinelCommandTimeout: connectTimeoutMs,
      };
  }
}

function commonSettings(options: RedisClientOptions) {
  const { address, role, name, mayAskInfo } = options;
  return {
    db: address.db,
    ...(address.password !== undefined && {
      // With only a password, ioredis prints a warning for a Redis without one.
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
    // BullMQ is tested with this version.
    protocol: 2,
    retryStrategy: retriesOf(role),
    maxRetriesPerRequest: null,
    enableReadyCheck: role !== 'probe' && mayAskInfo,
    maxLoadingRetryTime: 1_000,
    autoResendUnfulfilledCommands: role !== 'producer',
    reconnectOnError: (error: Error) => reconnectAfter(error, options),
  } satisfies RedisOptions;
}

/**
 * After a failover behind a name, only a new connection leads to the new primary. The command had no effect, so a worker repeats it there
 * (2) rather than fail a row that succeeded.
 */
function reconnectAfter(error: Error, { role, onErrorReply }: RedisClientOptions): false | 1 | 2 {
  onErrorReply?.(error);
  if (role === 'probe' || !/\bREADONLY\b|^LOADING\b/.test(error.message)) return false;
  return role === 'worker' ? 2 : 1;
}

function tlsSettings(address: RedisAddress): { servername?: string } {
  return address.kind === 'server' && isIP(address.endpoint.host) === 0
    ? { servername: address.endpoint.host }
    : {};
}

/** The pause before the next attempt, by the number of attempts before; null gives up. */
function retriesOf(role: Role): (times: number) => number | null {
  return role === 'probe' ? () => null : (times) => Math.min(times * 100, 2_000);
}

/** Sends the commands of one turn of the event loop together: writing to a socket costs more than the rest of a command. */
export function corkTurns(client: Redis): void {
  client.on('connect', () => corkSocket(client.stream));
}

/** Closing the socket also sends what it has buffered. */
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
