import { CqbatchError } from '../../errors.ts';
import type { RunStore } from '../../run/store.ts';
import type { Beginning } from '../../schedule/carry-out.ts';
import { type Occasion, runIdFor, type Schedule } from '../../schedule/schedule.ts';
import { type Flags, loadSettings } from '../config/load.ts';
import type { Workplace } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { silentTerminal } from '../terminal.ts';
import { knownError } from '../thrown.ts';
import { submitRun } from './submit.ts';

/**
 * Submits what an occasion of a schedule begins. What the schedule leaves open is as the daemon has it.
 *
 * @param daemon the flags of the daemon
 */
export async function beginScheduled(
  store: RunStore,
  daemon: Flags,
  schedule: Schedule,
  occasion: Occasion,
): Promise<Beginning> {
  const { source } = schedule;
  if (!('manifest' in source)) throw new Error('There are no inboxes yet.');
  return beginRun(store, daemon, schedule, occasion, source.manifest);
}

async function beginRun(
  store: RunStore,
  daemon: Flags,
  schedule: Schedule,
  occasion: Occasion,
  manifest: string,
): Promise<Beginning> {
  const runId = runIdFor(schedule, occasion);
  const flags: Flags = {
    ...apiOf(daemon),
    ...(schedule.options as Flags),
    ...(daemon.stateDir !== undefined && { stateDir: daemon.stateDir }),
    yes: true,
    runId,
    reason: `schedule ${schedule.name}, due ${occasion.due}`,
  };
  const warnings: string[] = [];
  try {
    const found = await store.look(runId);
    if (found === 'being planned') return { came: 'later' };
    if (found !== undefined) return { came: 'began', runs: [runId] };
    const { concurrency, ...settings } = await loadSettings(flags);
    const workplace: Workplace = {
      terminal: silentTerminal((text) => warnings.push(text)),
      flags,
      store,
      // That of a daemon which calls nothing says nothing of the run.
      settings: { ...settings, ...(concurrency !== undefined && concurrency !== 0 && { concurrency }) },
    };
    const submitted = await submitRun(workplace, manifest);
    if (submitted === exitCodes.interrupted) return { came: 'later' };
    if (typeof submitted !== 'number') return { came: 'began', runs: [submitted.id] };
    const message = warnings.join('\n').replace(/^error: /m, '');
    return { came: 'failed', code: 'NOTHING_BEGUN', message };
  } catch (error) {
    // Somebody else was quicker: the next look tells.
    if (error instanceof CqbatchError && error.code === 'RUN_EXISTS') return { came: 'later' };
    const known = knownError(error);
    if (known === undefined) throw error;
    return { came: 'failed', code: known.code, message: known.message };
  }
}

/** The API of the daemon is that of its schedules, unless they name another one. */
function apiOf({ baseUrl, allowInsecureHttp }: Flags): Flags {
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(allowInsecureHttp !== undefined && { allowInsecureHttp }),
  };
}
