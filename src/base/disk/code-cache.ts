import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const othersMayWrite = 0o022;

/** The folder for code that is kept between starts: `cqbatch` in `XDG_CACHE_HOME` or `~/.cache`. Users may remove it at any time. */
export function codeCachePath(): string {
  // biome-ignore lint/style/noProcessEnv: where code is kept is not a setting of the command
  return resolve(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'cqbatch');
}

/**
 * Makes the folder for code, if it is missing.
 *
 * @throws an Error when it is of another user, or others may change it: its files are code. On Windows always: the owner is unknown.
 */
export function makeCodeCache(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & othersMayWrite) !== 0)
    throw new Error(`${folder} must be a folder of yours that no other user may change`);
}

/** Makes Node 22.8 or newer keep the compiled code of modules that are imported from now on, for the next start. */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as typeof module & {
    enableCompileCache: (folder: string) => unknown;
  };
  try {
    const folder = codeCachePath();
    makeCodeCache(folder);
    enableCompileCache(join(folder, 'compiled'));
  } catch {
    // Without a place for it, each start compiles all code.
  }
}
