import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { DatabaseConnection } from './connection.ts';

/**
 * A `pg.Pool` for BullMQ whose clients are views of the one session. This is safe because BullMQ uses only single statements (its migration
 * runs before any BullMQ object exists).
 */
export function poolOver(session: DatabaseConnection): PgPool {
  const clients = new Set<EventEmitter>();
  session.onNotification = (channel, payload) => {
    for (const client of clients) client.emit('notification', { channel, payload });
  };
  const query = <R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> =>
    session.query(text, params) as Promise<PgQueryResult<R>>;
  const pool = {
    query,
    async connect(): Promise<PgPoolClient> {
      const client = Object.assign(new EventEmitter(), { query });
      clients.add(client);
      return Object.assign(client, {
        /** Releasing a client does nothing: the session continues. */
        release() {
          clients.delete(client);
          client.removeAllListeners();
        },
      });
    },
    /** Ending the pool does nothing: the datastore closes the session. */
    async end() {},
    // Only `pg` has events of a pool. BullMQ never stops listening, which would keep every queue of a daemon in memory.
    on: (): PgPool => pool,
    removeAllListeners: (): PgPool => pool,
    /** BullMQ checks whether dropped connections are noticed; within a process, none can drop. */
    options: { keepAlive: true },
  };
  return pool;
}
