import { withScope } from '../../base/async/scope.ts';
import { BusyError } from '../../base/errors/errors.ts';
import type { DoneEntriesOptions } from '../../engine/list/done-entries.ts';
import { ListReader } from '../../engine/list/list-reader.ts';
import { type CheckOfRun, checkRun } from '../../engine/run/check/check-run.ts';
import { isAsReported } from '../../engine/run/check/check-tally.ts';
import { findRetries, type RetriedRun } from '../../engine/run/plan/retries.ts';
import {
  goesOnByItself,
  type RunOptions,
  type RunRecord,
  stateInWords,
} from '../../engine/run/record/record.ts';
import { anyRun, findRecord } from '../../engine/run/work/find-run.ts';
import { changedOptions } from '../../settings/run-options.ts';
import type { Flags } from '../config.ts';
import { type CommandContext, openPlanningContext, saveMemory } from '../context.ts';
import { type ExitCode, exitCodes, Interrupted } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { checkDocument, checkReportText, checkWarnings, lookingText, nextCommands } from '../render/check.ts';
import { readingText } from '../render/export.ts';
import { listReading, openListsOf, showProgress } from './listing.ts';
import { baseUrlOf } from './options.ts';
import { otherApi } from './run/resumed-record.ts';

export async function check(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return checkNamed(await openPlanningContext(flags), id);
}

export async function checkNamed(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  const { terminal, store } = context;
  const retried = await findRetries(store, await findRecord(store, id, anyRun));
  for (const record of [retried.firstRun, ...retried.retries]) refuseInProgress(record);
  const checked = await readAndCheck(context, retried);
  for (const warning of checkWarnings(checked.lists)) terminal.warn(`warning: ${warning}`);
  const next = nextCommands(retried, checked.check).map(({ command, ...known }) => ({
    ...known,
    command: terminal.completed(command),
  }));
  terminal.result(checkDocument(retried, checked, next), checkReportText(retried, checked, next));
  return isAsReported(checked.check) ? exitCodes.success : exitCodes.rowsFailed;
}

/** Reads the lists, then checks the rows. @throws `Interrupted` on Ctrl-C, SIGTERM and SIGHUP, and the errors of `checkRun` */
function readAndCheck(context: CommandContext, retried: RetriedRun): Promise<CheckOfRun> {
  const { terminal, store } = context;
  return withScope(async (defer) => {
    const interrupt = interruptible(() => {});
    defer(interrupt.release);
    const options = optionsOf(context, retried.firstRun);
    const ifMissing = 'Without a list, nothing can be checked: look at the entries in the service.';
    const calls = await listReading(context, options, interrupt.signal, defer, ifMissing);
    const reading: DoneEntriesOptions = {
      ...calls,
      onReading: (list, reader) =>
        showProgress(terminal, () =>
          reader instanceof ListReader ? readingText(list, reader) : lookingText(list, reader),
        ),
    };
    const lists = await openListsOf(context, calls, defer);
    saveMemory();
    try {
      return await checkRun(store, retried, { lists, reading });
    } catch (error) {
      throw interrupt.signal.aborted ? new Interrupted('work') : error;
    }
  });
}

/** The run's options. @throws a usage error if the settings name another base URL than the run */
function optionsOf({ settings, flags }: CommandContext, { id, options }: RunRecord): RunOptions {
  const { baseUrl, allowInsecureHttp } = options;
  const wanted = baseUrlOf({ allowInsecureHttp: allowInsecureHttp ?? flags.allowInsecureHttp }, settings);
  if (wanted !== undefined && wanted !== baseUrl) throw otherApi(id, baseUrl, wanted, flags);
  return changedOptions(options, settings);
}

function refuseInProgress(record: RunRecord): void {
  if (goesOnByItself(record))
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${record.id} is still ${stateInWords(record)}`,
      'Wait for its end, then check it.',
    );
}
