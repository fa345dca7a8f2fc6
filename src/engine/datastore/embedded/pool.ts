import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { DatabaseConnection } from './connection.ts';

/**
 * Presents one session as a `pg.Pool`, as BullMQ's PostgreSQL backend requires: every client is a view of the session. This is
 * safe because the backend uses only single statements (its one transaction, the migration, runs before any BullMQ object
 * exists).
 */
export function poolOver(session: DatabaseConnection): PgPool {
  const clients = new Set<EventEmitter>();
  session.onNotification = (channel, payload) => {
    for (const client of clients) client.emit('notification', { channel, payload });
  };
  const query = <R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> =>
    session.query(text, params) as Promise<PgQueryResult<R>>;
  const newView = () => Object.assign(new EventEmitter().setMaxListeners(0), { query });
  return Object.assign(newView(), {
    async connect(): Promise<PgPoolClient> {
      const client = newView();
      clients.add(client);
      return Object.assign(client, {
        /** Removes this view's listeners; the session continues. */
        release() {
          clients.delete(client);
          client.removeAllListeners();
        },
      });
    },
    /** The datastore closes the session. */
    async end() {},
    /** BullMQ checks whether dropped connections are noticed; within a process, none can drop. */
    options: { keepAlive: true },
  });
}
