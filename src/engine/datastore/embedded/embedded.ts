import { closeSync, openSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isOpenToOthers, makeFolder, makePrivate } from '../../../base/disk/files.ts';
import { lockPath } from '../../../base/disk/lock.ts';
import { BusyError } from '../../../base/errors/errors.ts';
import { type Datastore, daemonPurpose } from '../datastore.ts';
import { type ConnectionThread, type DatabaseConnection, openConnection, startThread } from './connection.ts';
import { openEpoch, readFileIdentity } from './epoch.ts';
import { poolOver } from './pool.ts';

const folderName = 'queue';
/** No jobs, and no queue that a dead process had paused to remove it. */
const emptiness = `SELECT NOT EXISTS (SELECT FROM bullmq.job)
  AND NOT EXISTS (SELECT FROM bullmq.rate_limit)
  AND NOT EXISTS (SELECT FROM bullmq.meta WHERE field = 'paused') AS is_empty`;
const madeAtStart = ['global/pg_internal.init', 'base/5/pg_internal.init'];
const filesOpen = 110;

/**
 * BullMQ's PostgreSQL backend on PGlite, in a folder, for one process at a time. The first opening creates the database.
 *
 * @param purpose of this process, for error messages of others: `run 20261121-…`
 * @throws a busy error `DATASTORE_LOCKED` when another process holds the folder, a fatal error `DATASTORE_UNUSABLE` when it can't be opened
 */
export async function openEmbedded({
  stateDir,
  purpose,
  thread,
}: {
  readonly stateDir: string;
  readonly purpose: string;
  readonly thread?: ConnectionThread | undefined;
}): Promise<Datastore> {
  const folder = join(stateDir, folderName);
  await makeFolder(stateDir);
  const lock = await lockPath({
    path: folder,
    purpose,
    taken: (who, holder) =>
      new BusyError(
        'DATASTORE_LOCKED',
        `The state folder ${stateDir} is in use by ${who}`,
        holder?.purpose === daemonPurpose
          ? 'Submit a file ("cqbatch submit FILE"), a plan of a retry or an undo ("cqbatch retry RUN --out NAME.cqplan" writes one), or a run ' +
              'that stopped ("cqbatch resume RUN --submit"), or stop the daemon ' +
              `("kill ${holder.pid}").`
          : 'Wait for its end (--wait 10m), cancel its run ("cqbatch cancel RUN"), or use another folder (--state-dir).',
      ),
  });
  let opening: Promise<DatabaseConnection> | undefined;
  try {
    const filesBefore = await readFileIdentity(folder);
    checkDescriptors(filesOpen);
    opening = openConnection(folder, thread ?? startThread());
    const [session, { backend, migrate }] = await Promise.all([opening, import('./postgres.ts')]);
    // PGlite creates files that every user can read: all of a new database, otherwise some at each start.
    if (await isOpenToOthers(join(folder, 'PG_VERSION'))) await makePrivate(await realpath(folder));
    else await Promise.all(madeAtStart.map((path) => makePrivate(join(folder, path))));
    const epoch = await openEpoch(session, folder, filesBefore);
    const pool = poolOver(session);
    const losing = new AbortController();
    for (const lost of [session.lost, lock.lost]) void lost.then((reason) => losing.abort(reason));
    await migrate(pool);
    await session.query('SET search_path TO bullmq');

    return {
      description: `embedded (${folder})`,
      connection: pool,
      producerConnection: pool,
      backend,
      exclusive: true,
      trouble: undefined,
      epoch: async () => epoch.name,
      connectionEpoch: undefined,
      onReconnect: () => () => {},
      async isEmpty() {
        const { rows } = await session.query(emptiness);
        return rows[0]?.['is_empty'] === true;
      },
      renew: () => epoch.renew(),
      lost: losing.signal,
      // PGlite has no autovacuum: without this, the tables grow with every row.
      async maintain() {
        await session.query(
          'VACUUM bullmq.job, bullmq.job_dependency, bullmq.job_log, bullmq.event, bullmq.meta, bullmq.rate_limit',
        );
      },
      endDatabase: () => session.close(),
      async close() {
        await session.close();
        await lock.release();
      },
    };
  } catch (error) {
    await opening?.then(
      (session) => session.close(),
      () => {},
    );
    await lock.release();
    throw error;
  }
}

/**
 * Without file descriptors, PostgreSQL would report existing files instead.
 *
 * @throws `EMFILE` when this process can't open that many more
 */
function checkDescriptors(count: number): void {
  const open: number[] = [];
  try {
    while (open.length < count) open.push(openSync(process.execPath, 'r'));
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}
