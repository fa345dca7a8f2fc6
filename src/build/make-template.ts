import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { runMigrations } from 'bullmq';
import { create } from 'tar';
import { statIfAny } from '../base/disk/files.ts';
import { templateFile } from '../engine/datastore/embedded/template.ts';

/** Makes the archive for new datastores, unless it exists. */

/** More than the one or two checkpoints in the first log file take. */
const keptOfLog = 64 * 1024;

const made = await statIfAny(templateFile);
const sources = await Promise.all(
  ['bullmq', '@electric-sql/pglite'].map((name) => stat(createRequire(import.meta.url).resolve(name))),
);
if (made !== undefined && sources.every(({ ctimeMs }) => ctimeMs < made.mtimeMs)) process.exit();

const folder = await mkdtemp(join(tmpdir(), 'cqbatch-template-'));
const database = await PGlite.create({ dataDir: folder });
await runMigrations({
  query: async (text, params = []) => {
    const result =
      params.length > 0 ? await database.query(text, [...params]) : (await database.exec(text)).at(-1);
    return { rows: (result?.rows ?? []) as never[] };
  },
} as Parameters<typeof runMigrations>[0]);
// They have two thirds of the files, and no further databases are created.
await database.exec('UPDATE pg_database SET datistemplate = false');
await database.exec('DROP DATABASE template0');
await database.exec('DROP DATABASE template1');
await database.exec('CREATE TABLE public.epoch (name text)');
// Starts another log file of PostgreSQL: the archive needs only its first part.
await database.exec('SELECT pg_switch_wal(); CHECKPOINT');
const { rows } = await database.query<{ log: string }>(
  'SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS log',
);
await database.close();
// Maps of free space and visibility are a third of the files; PostgreSQL makes them again.
for (const path of await readdir(folder, { recursive: true }))
  if (/_(?:fsm|vm)$/.test(path)) await rm(join(folder, path));
const logs = join(folder, 'pg_wal');
for (const { name } of (await readdir(logs, { withFileTypes: true })).filter((entry) => entry.isFile()))
  if (name !== rows[0]?.log) await rm(join(logs, name));
  else await truncate(join(logs, name), keptOfLog);
create({ file: templateFile, cwd: folder, portable: true, sync: true }, ['.']);
await rm(folder, { recursive: true });
