import { usageError } from '../../errors.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { refuseChangedManifest } from '../../run/run-manifest.ts';
import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { chooseDatastore } from '../datastore.ts';
import type { ExitCode } from '../exit-codes.ts';
import { openState } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { execute } from './execute.ts';
import { baseUrlOf, type CallFlags, callOptions, calls, type ManifestFlags } from './options.ts';

type ResumeFlags = CallFlags & Pick<ManifestFlags, 'baseUrl' | 'allowInsecureHttp'>;

/** `cqbatch resume`: goes on where a run stopped. */
export async function resume(id: string | undefined, flags: ResumeFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const settings = await loadSettings(flags);
  const record = await store.load(id);
  refuseUnlessResumable(record);
  await refuseChangedManifest(store, record);
  const options = {
    ...withoutLimits(record.options),
    ...callOptions(settings, record.options),
    baseUrl: baseUrlFor(record, flags, settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
  };
  return execute({
    terminal,
    store,
    record: { ...record, options },
    datastore: await chooseDatastore(terminal, flags, settings),
    settings,
    logLevel: flags.logLevel,
    calls: calls(flags, settings),
  });
}

function withoutLimits({
  rate: _rate,
  maxOutageMs: _maxOutageMs,
  ...options
}: RunRecord['options']): RunRecord['options'] {
  return options;
}

/**
 * The API of the run. A run that has come to nothing because its base URL was wrong may go on with another one.
 *
 * @throws a usage error when rows of the run have their results from the API that it was begun on.
 */
function baseUrlFor(
  { id, state, counts, options }: RunRecord,
  flags: ResumeFlags,
  settings: Settings,
): string {
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
    completed: 'is complete; "cqbatch retry" makes a new run of the rows that failed',
    cancelled: 'was cancelled; start a new one with its not-attempted.csv',
  }[state as 'running' | 'paused' | 'completed' | 'cancelled'];
  throw usageError('RUN_NOT_RESUMABLE', `Run ${record.id} ${why}.`);
}
