import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type {} from './shared-redis.ts';

/**
 * Makes a command use the cheapest datastore, for tests that are about something else: a part of the Redis that all tests
 * share, or else the embedded one, whose PostgreSQL takes a second of CPU time to open.
 */
export function anyDatastore(): Readonly<Record<string, string>> {
  const url = inject('sharedRedis') as string | undefined;
  return url === undefined ? {} : { CQBATCH_QUEUE: url, CQBATCH_QUEUE_PREFIX: `test-${randomUUID()}` };
}
