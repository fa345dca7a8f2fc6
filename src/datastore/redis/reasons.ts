import type { Endpoint, RedisAddress } from './address.ts';
import { ready } from './attempt.ts';
import { type ClientOptions, createClient } from './client.ts';

/**
 * Of nodes of a Cluster and of Sentinels ioredis only says that the connection is closed. This connects to each by
 * itself, to learn why: the errors go to `note`.
 */
export async function noteReasons(options: ClientOptions, note: (error: Error) => void): Promise<void> {
  await Promise.all(
    membersOf(options).map(async (address) => {
      const client = createClient({ ...options, address });
      client.on('error', note);
      await ready(client).catch(() => {});
      client.disconnect();
    }),
  );
}

function membersOf({ address, sentinelPassword }: ClientOptions): readonly RedisAddress[] {
  const { tls } = address;
  const server = (endpoint: Endpoint): RedisAddress => ({ kind: 'server', endpoint, tls, db: 0 });
  if (address.kind === 'cluster') {
    const { username, password } = address;
    return address.nodes.map((endpoint) => ({
      ...server(endpoint),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }));
  }
  if (address.kind !== 'sentinel') return [];
  return address.sentinels.map((endpoint) => ({
    ...server(endpoint),
    ...(address.sentinelUsername !== undefined && { username: address.sentinelUsername }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
  }));
}
