import { poll } from '../../base/async/waiting.ts';
import { fatalError } from '../../base/errors/errors.ts';
import {
  contactOf,
  type FittingRun,
  pausedRun,
  requireState,
  runningRun,
  withRun,
} from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { attributionOf } from './options.ts';

/** How long `pause` waits for the calls in flight to finish. */
const pauseWaitMs = 120_000;

export async function pause(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return changeState(await openContext(flags), 'pause', runningRun, 'running', 'paused', id);
}

export async function unpause(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return changeState(await openContext(flags), 'unpause', pausedRun, 'paused', 'running', id);
}

async function changeState(
  context: Context,
  command: 'pause' | 'unpause',
  fitting: FittingRun,
  from: 'running' | 'paused',
  to: string,
  id: string | undefined,
): Promise<ExitCode> {
  const attribution = attributionOf(context);
  return withRun(context, id, fitting, async (found) => {
    const contact = contactOf(context.store, found);
    const { runId } = contact;
    requireState(contact, from);
    await contact.writeControl({ kind: 'command', command, ...attribution });
    const newState = await poll(pauseWaitMs, async () => {
      const { state = 'gone' } = (await contact.loadBrief()) ?? {};
      return state === from ? undefined : state;
    });
    if (newState !== to)
      throw fatalError('COMMAND_UNANSWERED', `Run ${runId} did not become ${to}: it is ${newState ?? from}.`);
    const { terminal } = context;
    const next = to === 'paused' ? terminal.completed(` Continue with: cqbatch unpause ${runId}`) : '';
    terminal.result({ run: runId, state: newState }, `Run ${runId} is ${newState}.${next}`);
    return exitCodes.success;
  });
}
