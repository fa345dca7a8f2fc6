import { readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { lock } from 'proper-lockfile';
import { z } from 'zod';
import { fatalError } from '../../errors.ts';
import { writeFileAtomically } from '../../files.ts';
import { isProcessAlive, processStart } from '../../process.ts';

/** An exclusive lock on a folder, held until `release`. */
export interface FolderLock {
  /** Resolves with the reason when the lock was taken away, which only deleting its files by hand can do. */
  readonly lost: Promise<Error>;
  /** Idempotent. */
  release(): Promise<void>;
}

/** A lock that nobody has touched for so long has no living holder, if the holder can't be asked (other machine). */
const staleAfterMs = 60_000;
/** A lock whose holder is known to be dead; the least that proper-lockfile takes. */
const deadHolderStaleAfterMs = 2_000;

const holderSchema = z.object({
  pid: z.number(),
  host: z.string(),
  started: z.string(),
  purpose: z.string(),
  since: z.string(),
});

type Holder = z.infer<typeof holderSchema>;

/**
 * Locks a folder (which need not exist) against every other process. Unlike the lock file alone, it never takes the
 * lock from a living process, even one that is suspended, and never waits for a dead one longer than some seconds.
 *
 * @throws a fatal error `DATASTORE_LOCKED` that names the process which holds the lock.
 */
export async function lockFolder(folder: string, purpose: string): Promise<FolderLock> {
  const holderFile = `${folder}.holder.json`;
  const lockFile = `${folder}.lock`;
  const holder = await readHolder(holderFile);
  const holderState = holder === undefined ? 'unknown' : stateOf(holder);
  if (holder !== undefined && holderState === 'alive' && (await exists(lockFile)))
    throw lockedError(folder, holder);

  let reportLoss: (error: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    reportLoss = resolve;
  });
  const release = await lock(folder, {
    realpath: false,
    lockfilePath: lockFile,
    update: 1_000,
    stale: holderState === 'dead' ? deadHolderStaleAfterMs : staleAfterMs,
    retries: holderState === 'dead' ? { retries: 20, factor: 1, minTimeout: 200 } : 0,
    onCompromised: (cause) =>
      reportLoss(
        fatalError('DATASTORE_LOCK_LOST', `The lock ${lockFile} was removed by another process.`, cause),
      ),
  }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ELOCKED')
      throw fatalError('DATASTORE_UNUSABLE', `Can't lock ${folder}: ${error.message}`, error);
    throw lockedError(folder, (await readHolder(holderFile)) ?? holder);
  });
  await writeFileAtomically(holderFile, `${JSON.stringify(self(purpose))}\n`);

  let releasing: Promise<void> | undefined;
  const releaseAll = async (): Promise<void> => {
    await rm(holderFile, { force: true });
    await release().catch(() => {});
  };
  return {
    lost,
    release() {
      releasing ??= releaseAll();
      return releasing;
    },
  };
}

function self(purpose: string): Holder {
  return {
    pid: process.pid,
    host: hostname(),
    started: processStart(process.pid) ?? '',
    purpose,
    since: new Date().toISOString(),
  };
}

function stateOf(holder: Holder): 'alive' | 'dead' | 'unknown' {
  if (holder.host !== hostname()) return 'unknown';
  return isProcessAlive(holder.pid, holder.started) ? 'alive' : 'dead';
}

function lockedError(folder: string, holder: Holder | undefined): Error {
  const who =
    holder === undefined
      ? 'another process'
      : `process ${holder.pid} on ${holder.host} (${holder.purpose}, since ${holder.since})`;
  return fatalError(
    'DATASTORE_LOCKED',
    `The embedded datastore ${folder} is in use by ${who}. One process at a time can use it: wait for its end, ` +
      'cancel it with "cqbatch cancel", or give this run a state folder of its own with --state-dir.',
  );
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return holderSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
