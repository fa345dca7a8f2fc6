import { closeSync, openSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { makeFolder, makePrivate } from '../../disk/files.ts';
import { lockPath } from '../../disk/lock.ts';
import { BusyError } from '../../errors.ts';
import type { Datastore } from '../datastore.ts';
import { openIncarnation, readFileIdentity } from './incarnation.ts';
import { poolOver } from './pool.ts';
import { openSession, type Session } from './session.ts';

/** Name of the embedded datastore's folder inside the state folder. */
const folderName = 'queue';
/** Files that PostgreSQL has open at a time. */
const filesOpen = 110;

/**
 * Opens the embedded datastore: BullMQ's PostgreSQL backend on PGlite, in a folder, for one process at a time. The
 * first opening makes the database, which takes some two seconds, later ones take less than one.
 *
 * @param stateDir the state folder; the datastore lives in its `queue` folder
 * @param purpose what this process does, for the error that another one gets: `run 20261121-…`
 * @throws a busy error `DATASTORE_LOCKED` when another process holds the folder, a fatal error `DATASTORE_UNUSABLE` when
 *   it can't be opened.
 */
export async function openEmbedded({
  stateDir,
  purpose,
}: {
  readonly stateDir: string;
  readonly purpose: string;
}): Promise<Datastore> {
  const folder = join(stateDir, folderName);
  await makeFolder(stateDir);
  const lock = await lockPath({
    path: folder,
    purpose,
    taken: (who) =>
      new BusyError(
        'DATASTORE_LOCKED',
        `The embedded datastore ${folder} is in use by ${who}`,
        'One process at a time can use it: wait for its end (--wait 10m), cancel it with "cqbatch cancel", or give this run a ' +
          'state folder of its own with --state-dir.',
      ),
  });
  let session: Session | undefined;
  try {
    const before = await readFileIdentity(folder);
    checkDescriptors(filesOpen);
    const opened = await openSession(folder);
    session = opened;
    // PGlite gives the files of a new database to everybody.
    await makePrivate(await realpath(folder));
    const incarnation = await openIncarnation(opened, folder, before);
    const pool = poolOver(opened);
    const client = await pool.connect();
    await runMigrations(client);
    client.release();
    await opened.query('SET search_path TO bullmq');

    return {
      description: `embedded (${folder})`,
      connection: pool,
      producerConnection: pool,
      backend: createPostgresBackend as unknown as Datastore['backend'],
      exclusive: true,
      trouble: undefined,
      incarnation: async () => incarnation.name,
      renew: () => incarnation.renew(),
      lost: Promise.race([opened.lost, lock.lost]),
      // PGlite has no autovacuum: without this the tables grow with every row ever processed.
      async maintain() {
        await opened.query(
          'VACUUM bullmq.job, bullmq.job_dependency, bullmq.job_log, bullmq.event, bullmq.meta, bullmq.rate_limit',
        );
      },
      // Both are idempotent.
      async close() {
        await opened.close();
        await lock.release();
      },
    };
  } catch (error) {
    await session?.close();
    await lock.release();
    throw error;
  }
}

/**
 * PostgreSQL takes a lack of file descriptors for files that are there already.
 *
 * @throws `EMFILE` when this process may not open so many files more
 */
function checkDescriptors(count: number): void {
  const open: number[] = [];
  try {
    while (open.length < count) open.push(openSync(process.execPath, 'r'));
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}
