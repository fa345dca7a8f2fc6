import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
} from 'bullmq';
import type { Datastore } from '../datastore.ts';

/** What BullMQ has for PostgreSQL: it is loaded while that opens. */

export const backend = createPostgresBackend as unknown as Datastore['backend'];

/** Brings the tables of BullMQ up to its version. It looks first: to migrate takes ten statements, also where nothing is to do. */
export async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect();
  const version = await assertSchemaCompatibility(client).catch(() => 0);
  if (version < LATEST_SCHEMA_VERSION) await runMigrations(client);
  client.release();
}
