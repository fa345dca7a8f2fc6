import { join } from 'node:path';
import { usageError } from '../../errors.ts';
import { hashFile } from '../../manifest/stage.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { openRunStore, type RunStore } from '../../run/store.ts';
import { loadSettings, stateDirOf } from '../config/load.ts';
import type { ExitCode } from '../exit-codes.ts';
import { openTerminal } from '../terminal.ts';
import { execute } from './execute.ts';
import { type CallFlags, callOptions } from './options.ts';

/** `cqbatch resume`: goes on where a run stopped. */
export async function resume(id: string | undefined, flags: CallFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const settings = await loadSettings(flags);
  const store = openRunStore(stateDirOf(flags));
  const record = await store.load(id);
  refuseUnlessResumable(record);
  await refuseChangedManifest(store, record);
  const options = { ...withoutRate(record.options), ...callOptions(settings, record.options) };
  return execute({ terminal, store, record: { ...record, options }, settings, logLevel: flags.logLevel });
}

function withoutRate({ rate: _rate, ...options }: RunRecord['options']): RunRecord['options'] {
  return options;
}

function refuseUnlessResumable(record: RunRecord): void {
  const state = actualState(record);
  if (isResumable(state)) return;
  const why = {
    running: `is running (process ${record.process?.pid} on ${record.process?.host})`,
    completed: 'is complete; "cqbatch retry" makes a new run of the rows that failed',
    cancelled: 'was cancelled; start a new one with its not-attempted.csv',
  }[state as 'running' | 'completed' | 'cancelled'];
  throw usageError('RUN_NOT_RESUMABLE', `Run ${record.id} ${why}.`);
}

/** What was reviewed is what runs, also the second time. */
async function refuseChangedManifest(store: RunStore, { id, manifest }: RunRecord): Promise<void> {
  const path = join(store.folder(id), manifest.file);
  const { sha256 } = await hashFile(path);
  if (sha256 === manifest.sha256) return;
  throw usageError(
    'MANIFEST_CHANGED',
    `${path} is not what it was when run ${id} was planned: nothing is sent. Put the original back, or start a new run ` +
      'with not-attempted.csv ("cqbatch report" writes it).',
  );
}
