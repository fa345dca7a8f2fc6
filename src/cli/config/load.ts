import { join } from 'node:path';
import { readSmallFile } from '../../disk/files.ts';
import { usageError } from '../../errors.ts';
import {
  type RawSettings,
  resolveSettings,
  type SettingName,
  type Settings,
  variableOf,
} from '../../settings/settings.ts';
import { requireOwn } from './trust.ts';

/** The one place that reads the process's environment. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** What a command line says. Each command has those flags that `commands.ts` gives it. */
export interface Flags extends RawSettings {
  readonly stateDir?: string;
  readonly json?: boolean;
  /** How often it was said: twice is nothing unless something is wrong. */
  readonly quiet?: number;
  readonly operation?: string;
  readonly clearToken?: string;
  readonly trim?: boolean;
  readonly allowInsecureHttp?: boolean;
  readonly yes?: boolean;
  readonly skipInvalid?: boolean;
  /** Runs and reports whose rows are not done again. */
  readonly skipDone?: readonly string[];
  readonly logLevel?: string;
  readonly verbose?: boolean;
  readonly format?: string;
  /** The id that the user chose for a new run. */
  readonly runId?: string;
  /** Whether the rows of the canary are a sample; else they are the first ones. */
  readonly canaryRandom?: boolean;
  /** Whether a run of that id is gone on with. */
  readonly orResume?: boolean;
  /** Whether that is done also where a guard has halted it. */
  readonly resumeHalted?: boolean;
  /** False with `--no-worker`: other processes call the API. */
  readonly worker?: boolean;
  readonly watch?: boolean;
  /** Whether `run` takes the manifests of a folder. */
  readonly once?: boolean;
  /** Of the rows that `retry` takes. */
  readonly code?: readonly string[];
  readonly unclear?: boolean;
  readonly withRetries?: boolean;
  /** Where `plan` writes a plan to be carried out later, and who has looked at it. */
  readonly out?: string;
  readonly approvedBy?: string;
  /** Whether `prune` only tells what it would do. */
  readonly dryRun?: boolean;
  readonly coordinate?: boolean;
  /** Of the dashboard: where it listens, and whether runs can be controlled there. */
  readonly port?: string;
  readonly host?: string;
  readonly control?: boolean;
  /** Why, for those who ask later. */
  readonly reason?: string;
  readonly saveResponses?: boolean;
  /** False with `--no-html`: the report has no page. */
  readonly html?: boolean;
  /** Whether `report` opens that page. */
  readonly open?: boolean;
  /** Of a schedule: when it is due, what it begins, and what happens when that is not possible in time. */
  readonly cron?: string;
  readonly manifest?: string;
  readonly inbox?: string;
  readonly overlap?: string;
  readonly catchUp?: string;
  readonly replace?: boolean;
  /** Whose story `show` tells. */
  readonly row?: string;
}

/** The state folder when nobody names one. */
export const defaultStateDir = '.cqbatch';

/** The user's own settings in the state folder. */
export const configFile = 'config.json';

/** The state folder: `--state-dir`, else `CQBATCH_STATE_DIR`. */
export function stateDirOf(flags: Flags): string {
  return flags.stateDir ?? (environment['CQBATCH_STATE_DIR'] || defaultStateDir);
}

/**
 * The state folder. Its configuration and its runs decide where the token goes, so that one that was only found in the current
 * folder must be this user's; one that is named is trusted, as git trusts a repository that `GIT_DIR` names.
 *
 * @throws a usage error `STATE_DIR_UNTRUSTED`
 */
export async function trustedStateDir(flags: Flags): Promise<string> {
  const stateDir = stateDirOf(flags);
  const isNamed = flags.stateDir !== undefined || Boolean(environment['CQBATCH_STATE_DIR']);
  if (!isNamed) await requireOwn(stateDir, configFile, environment['SUDO_UID']);
  return stateDir;
}

/**
 * The settings of a command: flags, environment and `config.json` in the state folder, in this order.
 *
 * @throws a usage error when one of them can't be understood, or `config.json` may be another user's.
 */
export async function loadSettings(flags: Flags): Promise<Settings> {
  const path = join(await trustedStateDir(flags), configFile);
  const values = await readConfigFile(path);
  return resolveSettings({ flags, environment, ...(values !== undefined && { file: { path, values } }) });
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

/** The configuration file, where that is what gives a setting its value. */
export function fileThatSays(name: SettingName, flags: Flags): string | undefined {
  const isSaidBefore = flags[name] !== undefined || Boolean(environment[variableOf(name)]);
  return isSaidBefore ? undefined : join(stateDirOf(flags), configFile);
}

/** Where a secret stands: never in a flag. */
interface SecretPlace {
  /** The file that a setting names; it goes first. */
  readonly file: string | undefined;
  readonly variable: string;
  /** What the file is called in the message that it can't be read, and the code of that error. */
  readonly what: string;
  readonly code: string;
}

/** @throws a usage error when the file can't be read. */
export async function readSecret({ file, variable, what, code }: SecretPlace): Promise<string | undefined> {
  if (file === undefined) return environment[variable] || undefined;
  try {
    return (await readSmallFile(file)).trim();
  } catch (error) {
    throw usageError(code, `Can't read ${what} ${file}: ${(error as Error).message}.`, error);
  }
}
