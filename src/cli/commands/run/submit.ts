import { poll } from '../../../base/async/waiting.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { openScheduleStore } from '../../../daemon/schedule/store.ts';
import { withActor } from '../../../domain/actor.ts';
import type { ManifestOrigin } from '../../../engine/run/plan/create-run.ts';
import { enterState, type RunRecord } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { budgetOf } from '../../../settings/run-options.ts';
import type { Flags } from '../../config.ts';
import { type CommandContext, openPlanningContext } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { sayWhoCarriesOut } from '../daemon/schedule.ts';
import { withNamedPlan } from './named-plan.ts';
import { planRun } from './planned-run.ts';
import { refuseOtherManifest } from './resume.ts';
import { saySubmitted } from './submit-resumed.ts';

/** How long `submit` waits while another process plans a run of the same id. Only a huge manifest takes longer. */
const planningMs = 120_000;

export async function submit(manifest: string, flags: Flags): Promise<ExitCode> {
  const opened = await openPlanningContext(flags);
  return withNamedPlan(opened, manifest, (context) => submitNamed(context, manifest));
}

export async function submitNamed(context: CommandContext, source: string): Promise<ExitCode> {
  const { terminal, store } = context;
  for (;;) {
    try {
      const submitted = await submitRun(context, source);
      if (typeof submitted === 'number') return submitted;
      const code = saySubmitted(terminal, submitted, 'is submitted');
      await sayWhoCarriesOut({ terminal, schedules: openScheduleStore(store.stateDir) });
      return code;
    } catch (error) {
      if (!(error instanceof CqbatchError) || error.code !== 'RUN_EXISTS') throw error;
      const existing = await recordOf(store, context.flags.runId ?? '');
      // Without a record, another process has discarded its run of this id: try again.
      if (existing === undefined) continue;
      const checked = await refuseOtherManifest(context, existing, source);
      if (checked !== undefined) return checked;
      return saySubmitted(terminal, existing, 'was already submitted');
    }
  }
}

/**
 * Submits a run. Returns an exit code if nothing was submitted: rows are refused, or the user declines.
 *
 * @param origin where the manifest was before an inbox moved it
 */
export async function submitRun(
  context: CommandContext,
  source: string,
  origin?: ManifestOrigin,
): Promise<RunRecord | ExitCode> {
  const budget = budgetOf(context.settings);
  const planned = await planRun(context, source, false, origin);
  if (typeof planned === 'number') return planned;
  await planned.journal.close();
  const submitted = {
    ...enterState(planned.record, 'submitted', withActor()),
    submitted: true,
    ...(budget !== undefined && { budget }),
  };
  await context.store.save(submitted);
  return submitted;
}

/** The record of a run that another process plans. Undefined when that plan was discarded. */
async function recordOf(store: RunStore, id: string): Promise<RunRecord | undefined> {
  const settled = await poll(planningMs, async () => {
    const record = await store.look(id);
    return record === 'being planned' ? undefined : { record };
  });
  if (settled !== undefined) return settled.record;
  throw usageError(
    'RUN_EXISTS',
    `Another process has been planning a run ${id} for two minutes: choose another name.`,
  );
}
