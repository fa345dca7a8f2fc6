import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { Session } from './session.ts';

/**
 * Gives one session the shape of a `pg.Pool`, which is all that BullMQ's PostgreSQL backend asks for: every client
 * is a view of the same session. That is sound because the backend uses single statements only (migrations, the one
 * transaction, run before any BullMQ object exists).
 */
export function poolOver(session: Session): PgPool {
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
        /** The session goes on; only the listeners of this view go. */
        release() {
          clients.delete(client);
          client.removeAllListeners();
        },
      });
    },
    /** The session belongs to the datastore, which closes it. */
    async end() {},
    /** BullMQ asks whether a dropped connection would be noticed: in one process no connection can drop. */
    options: { keepAlive: true },
  });
}
