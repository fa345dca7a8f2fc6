import { attributed } from '../../../actor.ts';
import { isActive } from '../../../cluster/entries.ts';
import { BusyError, type CqbatchError, usageError } from '../../../errors.ts';
import { refuseChangedManifest } from '../../../run/plan/run-manifest.ts';
import { actualState, isResumable, type RunRecord } from '../../../run/record/record.ts';
import { changedOptions, savingOptions } from '../../../settings/run-options.ts';
import type { Settings } from '../../../settings/settings.ts';
import { environment, type Flags } from '../../config/load.ts';
import type { Context } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { findRecord, unfinishedRun } from '../look/find-run.ts';
import { baseUrlOf } from '../options.ts';
import { execute } from './execute.ts';
import { atWork } from './when-free.ts';

/** `cqbatch resume`: goes on where a run stopped. */
export async function resume(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return atWork(flags, `resume ${id ?? ''}`.trim(), async (context) => {
    const record = await findRecord(context.store, id, unfinishedRun);
    refuseUnlessResumable(record);
    return resumeRun(context, record);
  });
}

/** Goes on with a run that nobody works on. */
export async function resumeRun(context: Context, record: RunRecord): Promise<ExitCode> {
  const { store, settings, flags } = context;
  await refuseChangedManifest(store, record);
  const options = {
    ...changedOptions(record.options, settings),
    ...savingOptions(flags, record.options),
    baseUrl: baseUrlFor(record, flags, settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
  };
  return execute(context, { ...record, options, ...ratesOf(record, options.rate) });
}

/** Each rate that the run was given since it was begun, with one that is another than before. */
function ratesOf(
  { rates = [], options }: RunRecord,
  rate: RunRecord['options']['rate'],
): Pick<RunRecord, 'rates'> {
  if (rate?.text === options.rate?.text) return rates.length > 0 ? { rates } : {};
  const set = { rate: rate?.text ?? 'none', at: new Date().toISOString(), ...attributed() };
  return { rates: [...rates, set] };
}

/**
 * The API of the run. A run that has come to nothing because its base URL was wrong may go on with another one.
 *
 * @throws a usage error when rows of the run have their results from the API that it was begun on.
 */
function baseUrlFor({ id, state, counts, options }: RunRecord, flags: Flags, settings: Settings): string {
  const allowInsecureHttp = flags.allowInsecureHttp ?? options.allowInsecureHttp ?? false;
  const wanted = baseUrlOf({ allowInsecureHttp }, settings) ?? options.baseUrl;
  const isUnused = state === 'halted' && counts !== undefined && counts.succeeded + counts.failed === 0;
  if (wanted === options.baseUrl || isUnused) return wanted;
  throw otherApi(id, options.baseUrl, wanted, flags);
}

/** Why rows of a run are not called: an access token is for one API, and the user names another one. */
export function otherApi(
  id: string,
  baseUrl: string,
  wanted: string,
  { baseUrl: flag }: Flags,
): CqbatchError {
  const begun = `Run ${id} was begun on ${baseUrl}`;
  const variable = environment['CQBATCH_BASE_URL'] ? 'CQBATCH_BASE_URL' : '"base_url" in config.json';
  return usageError(
    'OTHER_API',
    flag === undefined
      ? `${begun}, and ${variable} says ${wanted}: an access token is for one API. Set ${variable} and the token to those of the run.`
      : `${begun}, which has answered for some of its rows: leave out --base-url, or start a new run with its not-attempted.csv.`,
  );
}

function refuseUnlessResumable(record: RunRecord): void {
  const state = actualState(record);
  if (isResumable(state)) return;
  if (isActive(state)) throw runGoing(record);
  const why = {
    completed: `is complete; "cqbatch retry ${record.id}" makes a new run of the rows that failed`,
    cancelled: `was cancelled; "cqbatch retry ${record.id}" makes a new run of the rows that it has not done`,
  }[state as 'completed' | 'cancelled'];
  throw usageError('RUN_NOT_RESUMABLE', `Run ${record.id} ${why}.`);
}

/** Why nobody else may work on a run that is going. */
export function runGoing({ id, state, process }: RunRecord): BusyError {
  return state === 'paused'
    ? new BusyError('RUN_RUNNING', `Run ${id} is paused`, `"cqbatch unpause ${id}" lets it go on.`)
    : new BusyError(
        'RUN_RUNNING',
        `Run ${id} is running (process ${process?.pid} on ${process?.host})`,
        `Wait for its end (--wait 10m), or cancel it with "cqbatch cancel ${id}".`,
      );
}
