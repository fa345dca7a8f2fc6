import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usageError } from '../../errors.ts';
import { type RawSettings, resolveSettings, type Settings } from './settings.ts';

/** The one place that reads the process's environment. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** The flags that every command has. */
export interface CommonFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The state folder when nobody names one. */
export const defaultStateDir = '.cqbatch';

/** The state folder: `--state-dir`, else `CQBATCH_STATE_DIR`. */
export function stateDirOf(flags: CommonFlags): string {
  return flags.stateDir ?? (environment['CQBATCH_STATE_DIR'] || defaultStateDir);
}

/**
 * The settings of a command: flags, environment and `config.json` in the state folder, in this order.
 *
 * @throws a usage error when one of them can't be understood.
 */
export async function loadSettings(flags: CommonFlags & RawSettings): Promise<Settings> {
  const path = join(stateDirOf(flags), 'config.json');
  const values = await readConfigFile(path);
  return resolveSettings({ flags, environment, ...(values !== undefined && { file: { path, values } }) });
}

async function readConfigFile(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
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
