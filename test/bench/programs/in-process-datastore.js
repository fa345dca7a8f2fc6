// @ts-check
import { PGlite } from '@electric-sql/pglite';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { poolOver } from '../../../dist/src/datastore/embedded/pool.js';
import { ensureDatabase } from '../../../dist/src/datastore/embedded/template.js';

/** The embedded datastore with PGlite on the main thread: what it would be without a thread of its own. */
export async function openInProcess(/** @type {string} */ folder) {
  await ensureDatabase(folder);
  const database = await PGlite.create({ dataDir: folder });
  const query = async (/** @type {string} */ text, /** @type {readonly unknown[]} */ params = []) => {
    const result =
      params.length > 0 ? await database.query(text, [...params]) : (await database.exec(text)).at(-1);
    const rows = /** @type {Record<string, unknown>[]} */ (result?.rows ?? []);
    return { rows, rowCount: result?.affectedRows ?? rows.length };
  };
  const pool = poolOver({
    query,
    onNotification: (listener) => database.onNotification(listener),
    lost: new Promise(() => {}),
    close: () => database.close(),
  });
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
  await query('SET search_path TO bullmq');
  return { connection: pool, backend: createPostgresBackend, close: () => database.close() };
}
