import { createHash } from 'node:crypto';

/** A key of ours. Its prefix is a hash tag, so that a Cluster keeps all of them on one node. */
export function keyOf(prefix: string, name: string): string {
  return `${prefix}:cluster:${name}`;
}

/** The keys of an API, whose address is normalised. */
export function apiKeys(baseUrl: string) {
  const api = createHash('sha256').update(baseUrl).digest('hex').slice(0, 12);
  return { timeline: `${api}:timeline`, pace: `${api}:pace`, workers: `${api}:workers` } as const;
}
