import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
} from 'bullmq';
import type { Datastore } from '../datastore.ts';

/** BullMQ's PostgreSQL backend; its code loads while PGlite opens. */

export const backend = createPostgresBackend as unknown as Datastore['backend'];

/** Updates BullMQ's tables to its version. Checks first: a migration takes ten statements, even with nothing to do. */
export async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect();
  const version = await assertSchemaCompatibility(client).catch(() => 0);
  if (version < LATEST_SCHEMA_VERSION) await runMigrations(client);
  client.release();
}
