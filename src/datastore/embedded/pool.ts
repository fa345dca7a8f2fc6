import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { Session } from './session.ts';

/**
 * Gives one session the shape of a `pg.Pool`, which is all that BullMQ's PostgreSQL backend asks for: every client
 * is a view of the same session. That is sound because the backend uses single statements only (migrations, the one
 * transaction, run before any BullMQ object exists).
 */
export function poolOver(session: Session): PgPool {
  const clients = new Set<SharedClient>();
  session.onNotification((channel, payload) => {
    for (const client of clients) client.emit('notification', { channel, payload });
  });
  return new SharedPool(session, clients);
}

/** Whatever can be asked: every query goes to the one session. */
class SessionView extends EventEmitter {
  readonly #session: Session;

  constructor(session: Session) {
    super();
    this.setMaxListeners(0);
    this.#session = session;
  }

  query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    return this.#session.query(text, params) as Promise<PgQueryResult<R>>;
  }
}

class SharedClient extends SessionView implements PgPoolClient {
  readonly #clients: Set<SharedClient>;

  constructor(session: Session, clients: Set<SharedClient>) {
    super(session);
    this.#clients = clients;
    clients.add(this);
  }

  /** The session goes on; only the listeners of this view go. */
  release(): void {
    this.#clients.delete(this);
    this.removeAllListeners();
  }
}

class SharedPool extends SessionView implements PgPool {
  /** BullMQ asks whether a dropped connection would be noticed: in one process there is none to drop. */
  readonly options = { keepAlive: true };
  readonly #connect: () => SharedClient;

  constructor(session: Session, clients: Set<SharedClient>) {
    super(session);
    this.#connect = () => new SharedClient(session, clients);
  }

  async connect(): Promise<PgPoolClient> {
    return this.#connect();
  }

  /** The session belongs to the datastore, which closes it. */
  async end(): Promise<void> {}
}
