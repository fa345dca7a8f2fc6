import { createHash } from 'node:crypto';
import type { RunScript } from '../datastore.ts';
import type { RedisClient } from './client.ts';

/** Runs scripts by their digests, and sends those that Redis does not have yet. */
export function scriptsOn(client: RedisClient): RunScript {
  const digests = new Map<string, string>();
  return async (script, keys, args) => {
    let digest = digests.get(script);
    if (digest === undefined) {
      digest = createHash('sha1').update(script).digest('hex');
      digests.set(script, digest);
    }
    try {
      return await client.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return client.eval(script, keys.length, ...keys, ...args);
    }
  };
}
