import { setTimeout as sleep } from 'node:timers/promises';
import { fatalError, usageError } from '../../errors.ts';
import { writeCommand } from '../../run/control-command.ts';
import { actualState } from '../../run/record.ts';
import { type CommonFlags, loadSettings } from '../config/load.ts';
import type { RawSettings } from '../config/settings.ts';
import { chooseDatastore } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { openState } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { findRun, withCluster } from './find-run.ts';

/** A pause waits for the calls in flight. */
const patienceMs = 120_000;
const pollMs = 200;

/** The states between which each command leads. */
const changes = {
  pause: { from: 'running', to: 'paused' },
  unpause: { from: 'paused', to: 'running' },
} as const;

/** `cqbatch pause` and `cqbatch unpause`: no more rows of a run are called until somebody wants it to go on. */
export async function change(
  command: keyof typeof changes,
  id: string | undefined,
  flags: CommonFlags & RawSettings,
): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const datastore = await chooseDatastore(terminal, flags, await loadSettings(flags));
  const { from, to } = changes[command];
  const found = await findRun(store, datastore, id);
  const runId = 'record' in found ? found.record.id : found.entry.id;
  const state = 'record' in found ? actualState(found.record) : found.entry.state;
  if (state !== from) throw usageError('RUN_STATE', `Run ${runId} is ${state}, not ${from}.`);

  const reached = async (current: () => Promise<string | undefined>): Promise<string | undefined> => {
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(pollMs)) {
      const now = await current();
      if (now !== from) return now;
    }
    return from;
  };
  const now =
    'record' in found
      ? await writeCommand(store.folder(runId), command).then(() =>
          reached(async () => actualState(await store.load(runId))),
        )
      : await withCluster(datastore, `${command} ${runId}`, async (cluster) => {
          await cluster.command(runId, command);
          return reached(async () => (await cluster.run(runId))?.state);
        });
  if (now !== to)
    throw fatalError('COMMAND_UNANSWERED', `Run ${runId} did not become ${to}: it is ${now ?? 'gone'}.`);
  const next = to === 'paused' ? ` Go on with: cqbatch unpause ${runId}` : '';
  terminal.result({ run: runId, state: now }, `Run ${runId} is ${now}.${next}`);
  return exitCodes.success;
}
