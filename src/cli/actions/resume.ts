import { usageError } from '../../errors.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { refuseChangedManifest } from '../../run/run-manifest.ts';
import type { Flags } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { openContext } from '../context.ts';
import type { ExitCode } from '../exit-codes.ts';
import { execute } from './execute.ts';
import { findRecord, unfinishedRun } from './find-run.ts';
import { baseUrlOf, callOptions } from './options.ts';

/** `cqbatch resume`: goes on where a run stopped. */
export async function resume(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const { store, settings } = context;
  const record = await findRecord(store, id, unfinishedRun);
  refuseUnlessResumable(record);
  await refuseChangedManifest(store, record);
  const { rate: _rate, maxOutageMs: _maxOutageMs, ...before } = record.options;
  const options = {
    ...before,
    ...callOptions(settings, record.options),
    baseUrl: baseUrlFor(record, flags, settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
  };
  return execute(context, { ...record, options });
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
  if (flags.baseUrl === undefined) return options.baseUrl;
  throw usageError(
    'OTHER_API',
    `Run ${id} was begun on ${options.baseUrl}, which has answered for some of its rows: leave out --base-url, or start a new ` +
      'run with its not-attempted.csv.',
  );
}

function refuseUnlessResumable(record: RunRecord): void {
  const state = actualState(record);
  if (isResumable(state)) return;
  const why = {
    running: `is running (process ${record.process?.pid} on ${record.process?.host})`,
    paused: `is paused; "cqbatch unpause ${record.id}" lets it go on`,
    completed: `is complete; "cqbatch retry ${record.id}" makes a new run of the rows that failed`,
    cancelled: `was cancelled; "cqbatch retry ${record.id}" makes a new run of the rows that it has not done`,
  }[state as 'running' | 'paused' | 'completed' | 'cancelled'];
  throw usageError('RUN_NOT_RESUMABLE', `Run ${record.id} ${why}.`);
}
