import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { describeUnless } from './describe-with-program.ts';

/** A separate disk that can be full. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves at most this many bytes free. */
  fill(leave?: number): void;
  /** Makes room again. */
  free(): void;
  /** Makes it read-only, or writable again. */
  readOnly(wanted: boolean): void;
}

/** Whether disks can be mounted here: by root, on Linux, and in a container only with that right. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0 && canMountHere();

function canMountHere(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'cqbatch-mount-'));
  try {
    mount(folder, 1);
    execFileSync('umount', [folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A `describe` for tests that mount a small disk. */
export function describeWithSmallDisk(title: string, body: () => void): void {
  const missing = 'no disk can be mounted: run as root on Linux, a container with --cap-add SYS_ADMIN';
  describeUnless(canMount ? undefined : missing, title, body);
}

/** A disk of this many megabytes, in memory, which is removed when the test ends. */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'cqbatch-disk-'));
  mount(folder, megabytes);
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill(leave = 0) {
      const { bavail, bsize } = statfsSync(folder);
      const file = openSync(filler, 'a');
      const block = Buffer.alloc(bsize);
      try {
        for (let left = bavail * bsize - leave; left > 0; left -= bsize) writeSync(file, block);
      } catch (error) {
        // The code that uses the disk was faster.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    readOnly: (wanted) =>
      void execFileSync('mount', ['-o', `remount,${wanted ? 'ro' : 'rw'},size=${megabytes}m`, folder]),
  };
}

function mount(folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
}
