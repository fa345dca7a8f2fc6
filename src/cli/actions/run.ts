import type { CreatedRun } from '../../run/create-run.ts';
import type { RunStore } from '../../run/store.ts';
import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { chooseDatastore, type DatastoreChoice } from '../datastore.ts';
import type { ExitCode } from '../exit-codes.ts';
import { openState } from '../state-folder.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { tokenSource } from '../token.ts';
import { execute } from './execute.ts';
import { type CallFlags, calls, type ManifestFlags } from './options.ts';
import { planRun } from './planned-run.ts';

interface StartInput {
  readonly terminal: Terminal;
  readonly store: RunStore;
  readonly datastore: DatastoreChoice;
  readonly settings: Settings;
  readonly flags: CallFlags;
}

/** `cqbatch run`: plans, asks, and takes the run to its end. */
export async function run(source: string, flags: ManifestFlags & CallFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const settings = await loadSettings(flags);
  if (calls(flags, settings)) await tokenSource(settings).current();
  const datastore = await chooseDatastore(terminal, flags, settings);
  const planned = await planRun({
    terminal,
    store,
    source,
    flags,
    settings,
    calls: calls(flags, settings),
  });
  return typeof planned === 'number'
    ? planned
    : start({ terminal, store, datastore, settings, flags }, planned);
}

/** Hands a run that was agreed to over to execution. */
export function start(
  { terminal, store, datastore, settings, flags }: StartInput,
  { record, journal }: CreatedRun,
): Promise<ExitCode> {
  const { logLevel } = flags;
  return execute({
    terminal,
    store,
    record,
    journal,
    datastore,
    settings,
    logLevel,
    calls: calls(flags, settings),
  });
}
