import { usageError } from '../../../errors.ts';
import { lookUpRun } from '../../../index.ts';
import type { Flags } from '../../config/load.ts';
import { type Context, openContext } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { tokenSource } from '../api-client.ts';
import { calls } from '../options.ts';
import { runOnce } from '../serve/inbox.ts';
import { approvedSource } from './approval.ts';
import { measuring, notifying, whenFree } from './at-work.ts';
import { execute } from './execute.ts';
import { planRun, runIdOf } from './planned-run.ts';
import { goOn } from './resume.ts';

/** `cqbatch run`: plans, asks, and takes the run to its end. */
export async function run(manifest: string, flags: Flags): Promise<ExitCode> {
  return measuring(await openContext(flags), (measured) =>
    flags.once ? runOnce(measured, manifest) : notifying(measured, (noted) => runOrResume(noted, manifest)),
  );
}

async function runOrResume(opened: Context, manifest: string): Promise<ExitCode> {
  const { workplace: context, source } = await approvedSource(opened, manifest);
  const { flags } = context;
  const id = runIdOf(flags);
  if (flags.resumeHalted && !flags.orResume)
    throw usageError(
      'INVALID_SETTING',
      '--resume-halted goes with --or-resume; "cqbatch resume" needs no flag.',
    );
  if (!flags.orResume) return whenFree(context, `run ${id ?? source}`, (free) => start(free, source));
  if (id === undefined) {
    throw usageError('INVALID_SETTING', '--or-resume goes on with a run of that name: it needs --run-id.');
  }
  return whenFree(context, `run ${id}`, async (free) => {
    const existing = await lookUpRun(free.store, id);
    return existing === undefined ? start(free, source) : goOn(free, existing, source);
  });
}

async function start(context: Context, source: string): Promise<ExitCode> {
  const callsHere = calls(context);
  if (callsHere) await tokenSource(context.settings).current();
  const planned = await planRun(context, source, callsHere);
  return typeof planned === 'number' ? planned : execute(context, planned.record, planned.journal);
}
