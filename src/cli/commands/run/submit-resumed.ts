import { usageError } from '../../../base/errors/errors.ts';
import { openScheduleStore } from '../../../daemon/schedule/store.ts';
import { goesOnByItself, type RunRecord, stateInWords } from '../../../engine/run/record/record.ts';
import { refuseChangedRows } from '../../../engine/run/record/run-rows.ts';
import { resubmitRun } from '../../../engine/run/work/resubmit.ts';
import { budgetOf } from '../../../settings/run-options.ts';
import type { CommandContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { Terminal } from '../../terminal.ts';
import { sayWhoCarriesOut } from '../daemon/schedule.ts';
import { attributionOf, sayIfTomorrow } from '../options.ts';
import { changesOfResume, refuseUnlessResumable, whatContinues } from './resumed-record.ts';

/**
 * Hands a stopped run to a daemon, with what the user changes of it.
 *
 * @param record the stopped run, as the user knows it
 * @throws a usage error when a daemon has the run or it has ended, a busy error when another process works on it
 */
export async function submitResumed(context: CommandContext, record: RunRecord): Promise<ExitCode> {
  const { terminal, store, settings } = context;
  const { id } = record;
  refuseUnlessStopped(record);
  await refuseChangedRows(store, record);
  const resubmission = await resubmitRun(store, record, {
    changes: changesOfResume(context, record),
    budget: budgetOf(settings),
    attribution: attributionOf(context),
  });
  if (resubmission.result === 'in use') throw resubmission.error;
  if (resubmission.result === 'changed') {
    refuseUnlessStopped(resubmission.record);
    const now = stateInWords(resubmission.record);
    throw usageError('RUN_STATE', `Run ${id} has just changed, and ${now}: look at it, then try again.`);
  }
  await sayIfTomorrow(context);
  const continues = await whatContinues(store, record, 'the daemon');
  if (continues !== undefined) terminal.say(continues);
  const code = saySubmitted(terminal, resubmission.record, 'is submitted');
  await sayWhoCarriesOut({ terminal, schedules: openScheduleStore(store.stateDir) });
  return code;
}

function refuseUnlessStopped(record: RunRecord): void {
  const { id } = record;
  refuseUnlessResumable(record);
  if (goesOnByItself(record))
    throw usageError(
      'RUN_STATE',
      `Run ${id} is already submitted: follow it with "cqbatch status ${id} --watch".`,
    );
}

export function saySubmitted(terminal: Terminal, { id, state }: RunRecord, what: string): ExitCode {
  const command = terminal.completed(`cqbatch status ${id} --watch`);
  terminal.say(`Run ${id} ${what}. Follow it with: ${command}`);
  terminal.result({ run: id, state, next: [command] }, id);
  return exitCodes.success;
}
