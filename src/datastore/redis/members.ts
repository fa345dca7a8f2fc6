import type { Endpoint, RedisAddress } from './address.ts';
import type { ClientOptions } from './client.ts';

/** The addresses of the nodes of a Cluster, or of the Sentinels, each by itself; none for a single Redis. */
export function membersOf({ address, sentinelPassword }: ClientOptions): readonly RedisAddress[] {
  const { tls } = address;
  const member = (endpoint: Endpoint, username?: string, password?: string): RedisAddress => ({
    kind: 'server',
    endpoint,
    tls,
    db: 0,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  });
  switch (address.kind) {
    case 'cluster':
      return address.nodes.map((endpoint) => member(endpoint, address.username, address.password));
    case 'sentinel':
      return address.sentinels.map((endpoint) =>
        member(endpoint, address.sentinelUsername, sentinelPassword),
      );
    default:
      return [];
  }
}
