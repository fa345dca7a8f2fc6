import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithProgram } from './describe-with-program.ts';
import { findProgram } from './program.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The clock of a process and all its threads, which a test can set; time passes at its usual speed. */
export interface FakedClock {
  /** The environment to start a process with. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on the clock is off by this many seconds. */
  set(seconds: number): Promise<void>;
}

const programs = ['faketime'];

/** A `describe` for tests that set clocks (see `describeWithProgram`). */
export function describeWithFaketime(title: string, body: () => void): void {
  describeWithProgram(programs, title, body);
}

const sharedMemory = '/dev/shm';

/**
 * What a process with a faked clock shares with its children remains after it is killed, and prevents the next process of its
 * id from starting.
 */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(sharedMemory)) {
    const pid = /^(?:faketime_shm_|sem\.faketime_sem_)(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await rm(join(sharedMemory, name), { force: true });
  }
}

/** A clock of libfaketime; it is correct until it is set. */
export async function fakedClock(): Promise<FakedClock> {
  const folder = await temporaryFolder();
  const file = join(folder, 'offset');
  const set = async (seconds: number): Promise<void> => {
    await writeFile(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    await rename(`${file}.new`, file);
  };
  await set(0);
  await removeLeftovers();
  const program = findProgram(programs);
  if (program === undefined) throw new Error('There is no faketime.');
  const library = execFileSync(program, ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
  return {
    env: {
      LD_PRELOAD: library.trim(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Its name in different versions.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
  };
}
