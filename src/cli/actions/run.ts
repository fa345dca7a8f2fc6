import type { Flags } from '../config/load.ts';
import { openContext } from '../context.ts';
import type { ExitCode } from '../exit-codes.ts';
import { tokenSource } from './api-client.ts';
import { execute } from './execute.ts';
import { calls } from './options.ts';
import { planRun } from './planned-run.ts';

/** `cqbatch run`: plans, asks, and takes the run to its end. */
export async function run(source: string, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const callsHere = calls(context);
  if (callsHere) await tokenSource(context.settings).current();
  const planned = await planRun(context, source, callsHere);
  return typeof planned === 'number' ? planned : execute(context, planned.record, planned.journal);
}
