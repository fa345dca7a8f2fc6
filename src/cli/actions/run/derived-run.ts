import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BusyError, usageError } from '../../../errors.ts';
import {
  actualState,
  type CreateRunInput,
  callOptions,
  canaryOptions,
  checkManifest,
  createRun,
  defaultClearToken,
  delimiterOf,
  hashFile,
  isActive,
  makeTemporaryFolder,
  type RunOptions,
  type RunRecord,
  savingOptions,
  unfinishedAmong,
  verdictText,
} from '../../../index.ts';
import type { Context } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { planDocument, planText } from '../../render/plan.ts';
import { proxyTo, tokenSource } from '../api-client.ts';
import { attributionOf, baseUrlOf, calls } from '../options.ts';
import { execute } from './execute.ts';
import { isAgreed, planOf, runIdOf } from './planned-run.ts';
import { otherApi } from './resume.ts';

/** Rows of another run, as a manifest that is to be run. */
export interface DerivedRows extends Pick<NonNullable<CreateRunInput['from']>, 'rowNumbers' | 'histories'> {
  /** What its rows mean. */
  readonly options: Pick<RunOptions, 'map'> & Required<Pick<RunOptions, 'onConflict'>>;
}

/**
 * Makes a run of rows of another run, asks, and takes it to its end: on the same API, called in the same way unless the user
 * wants it otherwise now.
 *
 * @param write makes the manifest, a JSON Lines file, and says what it is; or the exit code when there is nothing to run.
 */
export async function runDerived(
  context: Context,
  of: RunRecord,
  as: 'retry' | 'undo',
  write: (path: string) => Promise<DerivedRows | ExitCode>,
): Promise<ExitCode> {
  const { store, settings, flags } = context;
  const callsHere = calls(context);
  const folder = await makeTemporaryFolder(store.stateDir, as);
  try {
    const source = join(folder, `rows-of-${of.id}.jsonl`);
    const written = await write(source);
    if (typeof written === 'number') return written;
    const { rowNumbers, histories, options: reading } = written;
    const { baseUrl, allowInsecureHttp } = of.options;
    const wanted = baseUrlOf({ allowInsecureHttp: allowInsecureHttp ?? false }, settings) ?? baseUrl;
    if (wanted !== baseUrl) throw otherApi(of.id, baseUrl, wanted, flags);
    const options = {
      baseUrl,
      ...(allowInsecureHttp && { allowInsecureHttp }),
      clearToken: defaultClearToken,
      ...reading,
      ...callOptions(settings, { ...of.options, delimiter: delimiterOf(of) }),
      ...savingOptions(flags, of.options),
      ...canaryOptions(settings, reading.onConflict),
    };
    const proxy = callsHere ? proxyTo(of.options) : undefined;
    if (flags.plan)
      return await preview(context, { path: source, name: `${as} of ${of.id}`, options }, proxy);
    if (callsHere) await tokenSource(settings).current();
    const created = await createRun(store, {
      source,
      options,
      runId: runIdOf(flags),
      attribution: attributionOf(flags),
      from: { as, of, rowNumbers, histories },
    });
    if (!(await isAgreed(context, created, proxy))) return exitCodes.usage;
    return await execute(context, created.record, created.journal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Shows the rows as `cqbatch plan` does. */
async function preview(
  context: Context,
  input: { readonly path: string; readonly name: string; readonly options: RunOptions },
  proxy: string | undefined,
): Promise<ExitCode> {
  const checked = await checkManifest(context.store, input);
  const { sha256 } = await hashFile(input.path);
  // The run that the rows are of was allowed to leave fields out.
  const planned = { ...(await planOf(context, checked, input.options, sha256, proxy)), allowPartial: true };
  context.terminal.result(planDocument(planned), `${planText(planned)}\n\n${verdictText(planned)}`);
  context.terminal.say('Nothing was sent.');
  return exitCodes.success;
}

/**
 * @param doing what one wants to do with its rows: `retry`
 * @throws a usage or busy error when another run may call rows of this run, too.
 */
export function refuseUnlessOver(
  doing: 'retry' | 'undo',
  record: RunRecord,
  later: readonly RunRecord[],
): void {
  const { id } = record;
  if (isActive(actualState(record)))
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${id} is still in progress`,
      `Wait for its end, then ${doing} it.`,
    );
  const unfinished = unfinishedAmong(later);
  if (unfinished === undefined) return;
  const state = actualState(unfinished);
  const what = unfinished.undoOf === id ? 'undoes' : 'retries rows of';
  if (isActive(state))
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${unfinished.id}, which ${what} run ${id}, is still in progress`,
      'Wait for its end.',
    );
  throw usageError(
    'RETRY_UNFINISHED',
    `Run ${unfinished.id}, which ${what} run ${id}, is ${state}: "cqbatch resume ${unfinished.id}" continues it, ` +
      `or cancel it ("cqbatch cancel ${unfinished.id}") before you ${doing} them again.`,
  );
}
