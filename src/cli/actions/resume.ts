import { usageError } from '../../errors.ts';
import { refuseChangedManifest } from '../../run/manifest-copy.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { loadSettings } from '../config/load.ts';
import { chooseDatastore } from '../datastore.ts';
import type { ExitCode } from '../exit-codes.ts';
import { openState } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { execute } from './execute.ts';
import { type CallFlags, callOptions, calls } from './options.ts';

/** `cqbatch resume`: goes on where a run stopped. */
export async function resume(id: string | undefined, flags: CallFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const settings = await loadSettings(flags);
  const record = await store.load(id);
  refuseUnlessResumable(record);
  await refuseChangedManifest(store, record);
  const options = { ...withoutRate(record.options), ...callOptions(settings, record.options) };
  return execute({
    terminal,
    store,
    record: { ...record, options },
    datastore: await chooseDatastore(terminal, flags, settings),
    settings,
    logLevel: flags.logLevel,
    calls: calls(flags, settings),
  });
}

function withoutRate({ rate: _rate, ...options }: RunRecord['options']): RunRecord['options'] {
  return options;
}

function refuseUnlessResumable(record: RunRecord): void {
  const state = actualState(record);
  if (isResumable(state)) return;
  const why = {
    running: `is running (process ${record.process?.pid} on ${record.process?.host})`,
    paused: `is paused; "cqbatch unpause ${record.id}" lets it go on`,
    completed: 'is complete; "cqbatch retry" makes a new run of the rows that failed',
    cancelled: 'was cancelled; start a new one with its not-attempted.csv',
  }[state as 'running' | 'paused' | 'completed' | 'cancelled'];
  throw usageError('RUN_NOT_RESUMABLE', `Run ${record.id} ${why}.`);
}
