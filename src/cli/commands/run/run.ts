import { usageError } from '../../../base/errors/errors.ts';
import { runIds } from '../../../domain/names.ts';
import { inputKind } from '../../../engine/manifest/text/source.ts';
import { lookUpRun } from '../../../library/place.ts';
import type { Flags } from '../../config.ts';
import type { Context } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { tokenSource } from '../api-client.ts';
import { callsHere } from '../options.ts';
import { withNamedPlan } from './named-plan.ts';
import { planRun } from './planned-run.ts';
import { inRunScope, whenFree } from './run-scope.ts';

export function run(manifest: string, flags: Flags): Promise<ExitCode> {
  return inRunScope(flags, (context) =>
    withNamedPlan(context, manifest, (planContext) => runNamed(planContext, manifest)),
  );
}

async function runNamed(context: Context, source: string): Promise<ExitCode> {
  const { flags } = context;
  const { runId: id } = flags;
  if (id !== undefined) runIds.require(id);
  if (flags.resumeHalted && !flags.orResume)
    throw usageError(
      'INVALID_SETTING',
      '--resume-halted needs --or-resume; "cqbatch resume" continues a halted run without it.',
    );
  if (!flags.orResume)
    return whenFree(context, `run ${id ?? source}`, (exclusive) => start(exclusive, source));
  if (id === undefined) {
    throw usageError('INVALID_SETTING', '--or-resume needs --run-id: the run to continue.');
  }
  return whenFree(context, `run ${id}`, async (exclusive) => {
    const existing = await lookUpRun(exclusive.store, id);
    if (existing === undefined) return start(exclusive, source);
    const { continueRun } = await import('./resume.ts');
    return continueRun(exclusive, existing, source);
  });
}

async function start(context: Context, source: string): Promise<ExitCode> {
  const { settings, planFile } = context;
  const isCaller = callsHere(context);
  // Look for the manifest first: if manifest and token are both missing, the user learns of the mistyped name first.
  if (source !== '-' && planFile === undefined) await inputKind(source, source);
  if (isCaller) await tokenSource(context, planFile?.options ?? settings).current();
  const planned = await planRun(context, source, isCaller);
  if (typeof planned === 'number') return planned;
  const { execute } = await import('./execute.ts');
  return execute(context, planned.record, planned.journal);
}
