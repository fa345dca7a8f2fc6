import { join } from 'node:path';
import { readSmallFile } from '../../base/disk/files.ts';
import { usageError } from '../../base/errors/errors.ts';
import {
  defaultStateDir,
  type FlagName,
  type RawSettings,
  resolveSettings,
  type Settings,
  saysNothing,
  variableOf,
} from '../../settings/settings.ts';
import type { OwnFlags } from '../option-table.ts';
import { requireOwn } from './trust.ts';

/** The one place that reads the process's environment. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** The flags of a command line; `commands.ts` gives each command its flags. */
export type Flags = RawSettings & OwnFlags;

/** The user's own settings in the state folder. */
export const configFile = 'config.json';

/** `--state-dir`, or else `CQBATCH_STATE_DIR`. */
export function stateDirOf(flags: Flags): string {
  const { CQBATCH_STATE_DIR: named = '' } = environment;
  return flags.stateDir ?? (saysNothing(named) ? defaultStateDir : named);
}

/**
 * The state folder. Its configuration and runs decide where the token goes, so a folder found in the current one must belong to
 * this user; a named folder is trusted, as git trusts `GIT_DIR`.
 *
 * @throws a usage error `STATE_DIR_UNTRUSTED`
 */
export async function trustedStateDir(flags: Flags): Promise<string> {
  const stateDir = stateDirOf(flags);
  const isNamed = flags.stateDir !== undefined || !saysNothing(environment['CQBATCH_STATE_DIR'] ?? '');
  if (!isNamed) await requireOwn(stateDir, configFile, environment['SUDO_UID']);
  return stateDir;
}

/**
 * The settings of a command: flags, environment and `config.json` in the state folder, in this order.
 *
 * @throws a usage error for an invalid setting, or when another user may have written `config.json`
 */
export async function loadSettings(flags: Flags): Promise<Settings> {
  const path = join(await trustedStateDir(flags), configFile);
  const values = await readConfigFile(path);
  // Loaded here: the help of most commands needs no operation.
  const fields = (await import('../../../jobs/index.ts')).fieldOptions.map(({ name }) => name);
  return resolveSettings({ flags, environment, fields, file: values && { path, values } });
}

async function readConfigFile(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text: string;
  try {
    text = await readSmallFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw usageError('CONFIG_UNREADABLE', `Can't read ${path}: ${(error as Error).message}.`, error);
  }
  try {
    const values: unknown = JSON.parse(text);
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values };
  } catch (error) {
    throw usageError('CONFIG_UNREADABLE', `${path} is not valid JSON: ${(error as Error).message}.`, error);
  }
  throw usageError('CONFIG_UNREADABLE', `${path} must hold a JSON object.`);
}

/** The configuration file, if a setting's value comes from there. */
export function fileThatSays(name: FlagName, flags: Flags): string | undefined {
  const isSaidBefore = flags[name] !== undefined || Boolean(environment[variableOf(name)]);
  return isSaidBefore ? undefined : join(stateDirOf(flags), configFile);
}

/** Where a secret is read from: never a flag. */
interface SecretPlace {
  /** Path of a file; takes precedence. */
  readonly file: string | undefined;
  readonly variable: string;
  /** What the error message calls the file, and the error's code. */
  readonly what: string;
  readonly code: string;
}

/** @throws a usage error when the file can't be read */
export async function readSecret({ file, variable, what, code }: SecretPlace): Promise<string | undefined> {
  if (file === undefined) return environment[variable] || undefined;
  try {
    return (await readSmallFile(file)).trim();
  } catch (error) {
    throw usageError(code, `Can't read ${what} ${file}: ${(error as Error).message}.`, error);
  }
}
