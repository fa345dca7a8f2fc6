import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type {} from './shared-redis.ts';

/**
 * What has a command use the datastore that costs least, for tests that are about something else: a corner of the Redis
 * that all tests share; where there is none, the embedded one, whose PostgreSQL takes a second of CPU time to open.
 */
export function anyDatastore(): Readonly<Record<string, string>> {
  const url = inject('sharedRedis') as string | undefined;
  return url === undefined ? {} : { CQBATCH_QUEUE: url, CQBATCH_QUEUE_PREFIX: `test-${randomUUID()}` };
}
