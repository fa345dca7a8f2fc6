import { BusyError, type CqbatchError, usageError } from '../base/errors/errors.ts';
import { fieldsWithOption, type Operation } from '../engine/operation/operation.ts';
import type { RunRecord } from '../engine/run/record/record.ts';
import { type CompleteCommands, openRunStore, type RunStore } from '../engine/run/record/store.ts';
import { completeCommands } from '../settings/complete-commands.ts';
import {
  type BatchSettings,
  defaultStateDir,
  isOfBatch,
  nameInWords,
  resolveSettings,
  type SettingName,
  type Settings,
} from '../settings/settings.ts';

export type { BatchSettings };

/**
 * Undefined if the run does not exist.
 *
 * @throws a busy error while another process plans the run
 */
export async function lookUpRun(store: RunStore, id: string): Promise<RunRecord | undefined> {
  const found = await store.look(id);
  if (found !== 'being planned') return found;
  throw new BusyError('RUN_RUNNING', `Run ${id} is being planned`, 'Wait until it ends.');
}

/** Where batches are kept, and which operations their rows may have. */
export interface BatchPlace<Each extends Operation = Operation> {
  readonly operations: readonly Each[];
  /** The folder of the runs, which `cqbatch` reads as well. Default: `.cqbatch`. */
  readonly stateDir?: string;
}

export interface BatchOptions extends BatchPlace {
  /** Path of a manifest in any format (docs/manifests.md), also gzipped. */
  readonly manifest: string;
  /** The operation of rows that name none, if their columns don't imply one. */
  readonly operation?: string;
  /** Whether blanks around cells are removed. Default: false. */
  readonly trim?: boolean;
  /** Whether a batch may begin although rows are invalid. Default: false. */
  readonly skipInvalid?: boolean;
  /** The keys of `config.json`, such as `{ rate: 'auto..50/s', max_failures: '5%', queue: 'redis://localhost' }`. */
  readonly settings?: BatchSettings;
}

/** What a program passes instead of a setting. */
const insteadOfSetting: Readonly<Record<string, string>> = {
  base_url: 'the client has the base URL',
  operations: 'pass the option "operations" instead',
  token_file: 'the client has the token',
  token_command: 'the client has the token',
  queue_password_file: 'write the password into the address of the queue',
};

export function missingOption(option: string, what: string): CqbatchError {
  return usageError('OPTION_MISSING', `${option} is missing: pass ${what}.`);
}

/** @throws a usage error when the settings can't be understood, or one of them does not apply to a batch */
export function openBatchPlace({
  operations,
  stateDir = defaultStateDir,
  settings = {},
}: Omit<BatchOptions, 'manifest'>): { readonly store: RunStore; readonly settings: Settings } {
  if (!Array.isArray(operations))
    throw missingOption('operations', 'those that the package exports as "operations", or your own');
  const resolved = resolveSettings({
    flags: {},
    environment: {},
    file: { path: 'settings', values: settings },
    fields: fieldsWithOption(operations).map(({ name }) => name),
  });
  for (const name of Object.keys(resolved) as SettingName[]) {
    if (isOfBatch(name)) continue;
    const key = nameInWords(name, '_');
    const why = insteadOfSetting[key] ?? 'only commands use it';
    throw usageError('INVALID_SETTING', `settings: ${key} is not allowed here: ${why}.`);
  }
  // A person who types a command of a page knows nothing of the program's options.
  const completed: CompleteCommands = (text) =>
    stateDir === defaultStateDir ? text : completeCommands(text, { stateDir });
  return { store: openRunStore(stateDir, operations, completed), settings: resolved };
}
