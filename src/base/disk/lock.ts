import { lutimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { deferred, poll } from '../async/waiting.ts';
import { BusyError, fatalError } from '../errors/errors.ts';
import { onDisk, SystemError, systemError } from '../errors/system-error.ts';
import { localTime } from '../text/local-time.ts';
import { exists, ifThere, removeIfPossible, writeFileAtomically } from './files.ts';
import {
  filesOf,
  type Holder,
  lastTouchedAt,
  ownLocks,
  readHolder,
  staleAfterMs,
  stateOfHolder,
} from './lock-holder.ts';
import { isThisProcess, thisProcess } from './process.ts';

export interface ProcessLock {
  /**
   * Resolves with the reason when the lock was taken away: its files were deleted, or another machine took this suspended process for dead.
   * The process must then write nothing more.
   */
  readonly lost: Promise<Error>;
  /** Frees the lock. Idempotent. */
  release(): Promise<void>;
}

/** How soon a lock counts as stale whose holder is certainly dead: the least that proper-lockfile accepts. */
const deadHolderStaleAfterMs = 2_000;
const touchedEveryMs = 1_000;
const watchedMs = 3 * touchedEveryMs;
const lookEveryMs = touchedEveryMs / 5;

/**
 * Locks a path against every other process. Unlike the lock file alone, it never takes the lock of a living process of this machine, even a
 * suspended one, and waits only seconds for that of a dead one. On another machine, a process is dead when it has not touched its lock for
 * a minute, nor, since clocks differ, during three more seconds.
 *
 * @throws what `taken` makes, when another process holds the lock
 */
export async function lockPath({
  path,
  purpose,
  taken,
}: {
  /** The path to lock, in a folder that exists. The lock's files add `.lock` and `.holder.json`. */
  readonly path: string;
  /** What this process does, for messages of other processes: `run 20261121-…`. */
  readonly purpose: string;
  readonly taken: (who: string, holder: Holder | undefined) => Error;
}): Promise<ProcessLock> {
  const { holderFile, lockFile } = filesOf(path);
  const holder = await readHolder(path);
  const holderState = stateOfHolder(holder, path);
  const isHeld = holderState === 'alive' && (await exists(lockFile));
  if (isHeld || !(await isFree(lockFile, holderState))) throw taken(describe(holder), holder);

  /** If the folder is gone, the lock's files are still in it. */
  const noteIfLeft = async (): Promise<void> => {
    if (!(await exists(dirname(path)))) ownLocks.set(path, 'left');
  };
  // Loaded here, because commands that only look need no lock, and loading it changes Node's `fs`.
  const { lock } = await import('proper-lockfile');
  const lost = deferred<Error>();
  let isLost = false;
  const release = await lock(path, {
    realpath: false,
    lockfilePath: lockFile,
    update: touchedEveryMs,
    stale: holderState === 'dead' ? deadHolderStaleAfterMs : staleAfterMs,
    retries: holderState === 'dead' ? { retries: 20, factor: 1, minTimeout: 200 } : 0,
    onCompromised: (cause) => {
      isLost = true;
      void lockLost(lockFile, cause).then(lost.resolve);
    },
  }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ELOCKED') {
      // The folder may have gone after the lock was made.
      await noteIfLeft();
      throw (
        systemError(error, path) ?? fatalError('LOCK_UNUSABLE', `Can't lock ${path}: ${error.message}`, error)
      );
    }
    const now = (await readHolder(path)) ?? holder;
    throw taken(describe(now), now);
  });
  const letGo = async (): Promise<void> => {
    await release().catch(() => {});
    await noteIfLeft();
  };
  const self: Holder = { ...thisProcess(), purpose, since: new Date().toISOString() };
  await writeFileAtomically(holderFile, `${JSON.stringify(self)}\n`).catch(async (error) => {
    await letGo();
    throw error;
  });
  ownLocks.set(path, 'held');

  let releasing: Promise<void> | undefined;
  const releaseAll = async (): Promise<void> => {
    ownLocks.delete(path);
    if (isLost) return;
    await removeIfPossible(holderFile);
    await letGo();
  };
  return {
    lost: lost.promise,
    release() {
      releasing ??= releaseAll();
      return releasing;
    },
  };
}

/**
 * Takes a lock that other processes hold for a moment at a time.
 *
 * @throws what `take` throws; a busy error only when the lock was taken for this long
 */
export async function lockPatiently(
  patienceMs: number,
  take: () => Promise<ProcessLock>,
): Promise<ProcessLock> {
  let busy: unknown;
  const lock = await poll(patienceMs, () =>
    take().catch((error: unknown) => {
      if (!(error instanceof BusyError)) throw error;
      busy = error;
      return undefined;
    }),
  );
  if (lock === undefined) throw busy;
  return lock;
}

async function lockLost(lockFile: string, cause: Error): Promise<Error> {
  if (await exists(lockFile))
    return fatalError('LOCK_LOST', `The lock ${lockFile} was taken over by another process.`, cause);
  return new SystemError(
    'LOCK_LOST',
    `the lock ${lockFile} was removed while it was held`,
    'see that its folder is in its place and no other process works there',
    cause,
  );
}

/**
 * Whether a lock is free when its time does not say: after clocks were set back, a dead holder's lock may lie in the future; on another
 * machine whose clock is behind, a living holder's lock may lie in the past.
 */
async function isFree(lockFile: string, holder: ReturnType<typeof stateOfHolder>): Promise<boolean> {
  const touchedAt = await lastTouchedAt(lockFile);
  if (touchedAt === undefined) return true;
  const ageMs = Date.now() - touchedAt;
  const isDoubtful = holder === 'dead' ? ageMs < 0 : ageMs > staleAfterMs;
  if (!isDoubtful) return true;
  // Counts looks, not time, which also passes while this process stands still and looks at nothing.
  for (let looks = 0; looks < watchedMs / lookEveryMs; looks += 1) {
    await pause(lookEveryMs);
    const now = await lastTouchedAt(lockFile);
    if (now !== touchedAt) return now === undefined;
  }
  if (holder === 'dead') await onDisk(lockFile, () => ifThere(lutimes(lockFile, 0, 0)));
  return true;
}

function describe(holder: Holder | undefined): string {
  if (holder === undefined) return 'another process';
  // A program that uses the library may hold several locks at once.
  if (isThisProcess(holder)) return `this process (${holder.purpose}, since ${localTime(holder.since)})`;
  return `process ${holder.pid} on ${holder.host} (${holder.purpose}, since ${localTime(holder.since)})`;
}
