import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A package in the lock file, with the parts that tests need. */
export interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly devOptional?: true;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The packages of package-lock.json by their paths, without the project itself. */
export async function lockedPackages(): Promise<Map<string, LockedPackage>> {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };
  return new Map(Object.entries(packages).filter(([path]) => path !== ''));
}

/** Runs npm as a new user does: with only the project's settings, and an empty cache. */
export async function npm(
  args: readonly string[],
  { cwd, home }: { readonly cwd: string; readonly home: string },
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { PATH } = process.env;
  return run('npm', [...args, '--no-update-notifier', '--no-audit', '--no-fund'], {
    cwd,
    env: { PATH, HOME: home },
    maxBuffer: 64 * 1024 * 1024,
  });
}
