import { ready } from './attempt.ts';
import { type ClientOptions, createClient } from './client.ts';
import { membersOf } from './members.ts';

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
