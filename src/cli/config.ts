import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { statIfAny } from '../base/disk/files.ts';
import { readSmallFile } from '../base/disk/open-file.ts';
import type { ErrorCode } from '../base/errors/error-codes.ts';
import { type CqbatchError, usageError } from '../base/errors/errors.ts';
import { shellWord } from '../base/text/command-words.ts';
import {
  defaultStateDir,
  type FlagName,
  isBlankSetting,
  type RawSettings,
  resolveSettings,
  type Settings,
  variableOf,
} from '../settings/settings.ts';
import type { OwnFlags } from './option-table.ts';

/** The environment of the process. Other code must not read `process.env`. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** The values of all flags. `commands.ts` says which flags a command has. */
export type Flags = RawSettings & OwnFlags;

export const configFile = 'config.json';

export function stateDirOf(flags: Flags): string {
  const { CQBATCH_STATE_DIR: variable = '' } = environment;
  return flags.stateDir ?? (isBlankSetting(variable) ? defaultStateDir : variable);
}

/**
 * The path of the state folder, which decides where the token is sent, and which programs run. The default folder must belong to this
 * user; a folder that the user names is trusted, as git trusts `GIT_DIR`.
 *
 * @throws a usage error `STATE_DIR_UNTRUSTED`
 */
export async function trustedStateDir(flags: Flags): Promise<string> {
  const stateDir = stateDirOf(flags);
  const isNamed = flags.stateDir !== undefined || !isBlankSetting(environment['CQBATCH_STATE_DIR'] ?? '');
  if (!isNamed) await requireOwn(stateDir, configFile, environment['SUDO_UID']);
  return stateDir;
}

/**
 * The settings of a command. Flags take precedence over environment variables, and these over `config.json`.
 *
 * @throws a usage error for an invalid setting, or when another user may have written `config.json`
 */
export async function loadSettings(flags: Flags): Promise<Settings> {
  const path = join(await trustedStateDir(flags), configFile);
  const values = await readConfigFile(path);
  // The operations are imported here, because most commands need none of them for their help.
  const fields = (await import('../../jobs/index.ts')).fieldOptions.map(({ name }) => name);
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

/** The path of the configuration file that may have a setting. Undefined if a flag or a variable overrides the file. */
export function fileThatSays(name: FlagName, flags: Flags): string | undefined {
  const isOverridden = flags[name] !== undefined || Boolean(environment[variableOf(name)]);
  return isOverridden ? undefined : join(stateDirOf(flags), configFile);
}

/** Where a secret comes from. Never from a flag, which other users could see. */
interface SecretPlace {
  readonly file: string | undefined;
  readonly variable: string;
  readonly secretName: string;
  readonly code: ErrorCode;
}

/** Reads a secret from a file or a variable. @throws a usage error when the file can't be read */
export async function readSecret({
  file,
  variable,
  secretName,
  code,
}: SecretPlace): Promise<string | undefined> {
  if (file === undefined) return environment[variable] || undefined;
  try {
    return (await readSmallFile(file)).trim();
  } catch (error) {
    throw usageError(code, `Can't read ${secretName} ${file}: ${(error as Error).message}.`, error);
  }
}

const othersMayWrite = 0o022;

/**
 * Refuses a state folder or a link of another user, and a configuration file that another user owns or may change. Like git's `safe.directory`,
 * trusts root and, under sudo, the user who typed the command.
 *
 * @param sudoUid the variable SUDO_UID
 * @throws a usage error `STATE_DIR_UNTRUSTED`
 */
export async function requireOwn(stateDir: string, configFile: string, sudoUid?: string): Promise<void> {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const trusted = [0, user, ...(user === 0 ? [Number(sudoUid)] : [])];
  const path = join(stateDir, configFile);
  // Refuse links of other users: such a link may lead to a folder of the user that is meant for other runs.
  for (const name of [stateDir, path]) {
    const link = await lstat(name.replace(/(?<=.)\/+$/, '')).catch(() => undefined);
    if (link?.isSymbolicLink() && !trusted.includes(link.uid))
      throw untrusted(stateDir, `${name} is a link that belongs to another user (uid ${link.uid})`);
  }
  const [folder, config] = [await statIfAny(stateDir), await statIfAny(path)];
  for (const [name, stats] of Object.entries({ [stateDir]: folder, [path]: config }))
    if (stats !== undefined && !trusted.includes(stats.uid))
      throw untrusted(stateDir, `${name} belongs to another user (uid ${stats.uid})`);
  if (folder !== undefined && config !== undefined && ((folder.mode | config.mode) & othersMayWrite) !== 0) {
    const remedy = `Type "chmod go-w ${shellWord(stateDir)} ${shellWord(path)}" after a look at it.`;
    throw untrusted(stateDir, `${path} may be changed by other users`, remedy);
  }
}

function untrusted(stateDir: string, what: string, remedy?: string): CqbatchError {
  const sentences = [
    `${what}, and the folder decides where your access token is sent and which programs run.`,
    remedy,
    `If you trust the folder as it is, name it: --state-dir ${shellWord(stateDir)}.`,
  ];
  return usageError('STATE_DIR_UNTRUSTED', sentences.filter(Boolean).join(' '));
}
