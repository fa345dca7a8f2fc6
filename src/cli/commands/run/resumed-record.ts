import { BusyError, type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { withActor } from '../../../domain/actor.ts';
import { isActive } from '../../../engine/cluster/entries.ts';
import { endings } from '../../../engine/run/record/ending.ts';
import {
  actualState,
  endFactsOfRun,
  isHaltedByGuard,
  isResumable,
  type RunRecord,
} from '../../../engine/run/record/record.ts';
import { progressOf } from '../../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { changedOptions, savingOptions } from '../../../settings/run-options.ts';
import type { Settings } from '../../../settings/settings.ts';
import { environment, type Flags } from '../../config.ts';
import type { CommandInput } from '../../context.ts';
import { baseUrlOf } from '../options.ts';

/** What the user changes of a run that goes on. */
export function changesOfResume(
  { flags, settings }: Pick<CommandInput, 'flags' | 'settings'>,
  record: RunRecord,
): Pick<RunRecord, 'options' | 'rates'> {
  const options = {
    ...changedOptions(record.options, settings),
    ...savingOptions(flags, record.options),
    baseUrl: baseUrlFor(record, flags, settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
  };
  return { options, ...ratesOf(record, options.rate) };
}

function ratesOf(
  { rates = [], options }: RunRecord,
  rate: RunRecord['options']['rate'],
): Pick<RunRecord, 'rates'> {
  if (rate?.text === options.rate?.text) return rates.length > 0 ? { rates } : {};
  const change = { rate: rate?.text ?? 'none', at: new Date().toISOString(), ...withActor() };
  return { rates: [...rates, change] };
}

/** The base URL for a resume. Only a halted run without results may continue on another one than before. */
function baseUrlFor({ id, state, counts, options }: RunRecord, flags: Flags, settings: Settings): string {
  const allowInsecureHttp = flags.allowInsecureHttp ?? options.allowInsecureHttp ?? false;
  const wanted = baseUrlOf({ allowInsecureHttp }, settings) ?? options.baseUrl;
  const isUnused = state === 'halted' && counts !== undefined && counts.succeeded + counts.failed === 0;
  if (wanted === options.baseUrl || isUnused) return wanted;
  throw otherApi(id, options.baseUrl, wanted, flags);
}

/** The error for a base URL that is not the run's: an access token is for one API. */
export function otherApi(
  id: string,
  baseUrl: string,
  wanted: string,
  { baseUrl: flag }: Flags,
): CqbatchError {
  const started = `Run ${id} was started on ${baseUrl}`;
  const variable = environment['CQBATCH_BASE_URL'] ? 'CQBATCH_BASE_URL' : '"base_url" in config.json';
  return usageError(
    'OTHER_API',
    flag === undefined
      ? `${started}, but ${variable} is set to ${wanted}: an access token is for one API. Set ${variable} and the token to those of the run.`
      : `${started}, which has already answered for some of its rows: leave out --base-url, or start a new run with its not-attempted.csv.`,
  );
}

/** @throws a usage error for a run that has ended, a busy error for a run in progress */
export function refuseUnlessResumable(record: RunRecord): void {
  const state = actualState(record);
  if (isResumable(state)) return;
  if (isActive(state)) throw busyWith(record);
  const { id, counts } = record;
  const { sentence, next, nextRows } = endFactsOfRun(record) ?? endings.completed;
  if (state === 'completed' && counts?.failed === 0)
    throw usageError('RUN_NOT_RESUMABLE', `Run ${id} ${sentence}, and none of its rows failed.`);
  throw usageError('RUN_NOT_RESUMABLE', `Run ${id} ${sentence}; "cqbatch ${next} ${id}" calls ${nextRows}.`);
}

export function busyWith({ id, state, process }: RunRecord): BusyError {
  return state === 'paused'
    ? new BusyError('RUN_RUNNING', `Run ${id} is paused`, `"cqbatch unpause ${id}" continues it.`)
    : new BusyError(
        'RUN_RUNNING',
        `Run ${id} is running (process ${process?.pid} on ${process?.host})`,
        `Wait for its end (--wait 10m), or cancel it with "cqbatch cancel ${id}".`,
      );
}

/** What a halted run does next. Undefined for another run. */
export async function whatContinues(
  store: RunStore,
  record: RunRecord,
  caller: 'this command' | 'the daemon',
): Promise<string | undefined> {
  if (!isHaltedByGuard(record)) return undefined;
  const { done } = await progressOf(store, record);
  const left = counted(record.plan.rows - done, 'row');
  const [calls, from] = caller === 'the daemon' ? ['The daemon calls', 'then'] : ['It now calls', 'now'];
  return `Run ${record.id} was halted. ${calls} the ${left} without a result, and counts failures from ${from} on.`;
}
