import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq';
import type { Datastore } from '../datastore.ts';

/** BullMQ's backend, which loads while PGlite opens. */
export const backend = createPostgresBackend as unknown as Datastore['backend'];

/** Checks first whether a migration is needed, because it takes ten statements even with nothing to do. */
export async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect();
  try {
    const version = await assertSchemaCompatibility(client).catch((error: Error) => {
      if (error instanceof SchemaMigrationRequiredError) return 0;
      throw error;
    });
    if (version < LATEST_SCHEMA_VERSION) await runMigrations(client);
  } finally {
    client.release();
  }
}
