import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BusyError, usageError } from '../../../errors.ts';
import {
  type ApprovedPlan,
  actualState,
  bytesOf,
  type CreateRunInput,
  callOptions,
  canaryOptions,
  checkManifest,
  createFile,
  createRun,
  defaultClearToken,
  delimiterOf,
  groupOption,
  hashFile,
  isActive,
  makeTemporaryFolder,
  planSuffix,
  type RunOptions,
  type RunRecord,
  readApprovedPlan,
  resumeCommand,
  savingOptions,
  unfinishedAmong,
  writeApprovedPlan,
} from '../../../index.ts';
import { onDisk } from '../../../system-error.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { shellWord } from '../../../text/shell-word.ts';
import type { Flags } from '../../config/load.ts';
import type { Context } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { Plan } from '../../render/plan.ts';
import { flagWords } from '../../render/words.ts';
import { proxyTo, tokenSource } from '../api-client.ts';
import { attributionOf, baseUrlOf, calls, sayIfGroupless } from '../options.ts';
import { refuseChangedOptions } from './approval.ts';
import { execute } from './execute.ts';
import { planFile, printPlan } from './plan.ts';
import { approvedOrDiscarded, isAgreed, planOf } from './planned-run.ts';
import { otherApi } from './resume.ts';

/** Rows of another run, as a manifest. */
export interface DerivedRows extends Pick<NonNullable<CreateRunInput['from']>, 'rowNumbers' | 'histories'> {
  /** How to interpret the rows. */
  readonly options: Pick<RunOptions, 'map'> & Required<Pick<RunOptions, 'onConflict'>>;
}

/**
 * Creates a run of another run's rows, asks, and takes it to its end, with the same API and options unless overridden.
 *
 * @param write writes the manifest, a JSON Lines file, and describes it; or returns an exit code when there is nothing to run
 */
export async function runDerived(
  context: Context,
  of: RunRecord,
  as: 'retry' | 'undo',
  write: (path: string) => Promise<DerivedRows | ExitCode>,
): Promise<ExitCode> {
  const { store, settings, flags } = context;
  // The same rows must be chosen when the plan is carried out.
  const choice = flagWords({
    ...(flags.code && { code: flags.code }),
    ...(flags.unclear && { unclear: true }),
  });
  const callsHere = calls(context);
  sayIfGroupless(context, of.options);
  const folder = await makeTemporaryFolder(store.stateDir, as);
  try {
    const source = join(folder, `rows-of-${of.id}.jsonl`);
    const written = await write(source);
    if (typeof written === 'number') return written;
    const { rowNumbers, histories, options: reading } = written;
    const { baseUrl, allowInsecureHttp } = of.options;
    const wanted = baseUrlOf({ allowInsecureHttp: allowInsecureHttp ?? false }, settings) ?? baseUrl;
    if (wanted !== baseUrl) throw otherApi(of.id, baseUrl, wanted, flags);
    // A signed-off plan may be run with a more careful canary.
    const canary = canaryOptions(settings, reading.onConflict);
    const options = {
      baseUrl,
      ...(allowInsecureHttp && { allowInsecureHttp }),
      ...groupOption(of.options),
      clearToken: defaultClearToken,
      ...reading,
      ...callOptions(settings, { ...of.options, delimiter: delimiterOf(of) }),
      ...savingOptions(flags, of.options),
      ...canary,
    };
    const proxy = callsHere ? proxyTo(of.options) : undefined;
    if (isPreview(flags))
      return await preview(context, { path: source, name: `${as} of ${of.id}`, options }, proxy);
    if (callsHere) await tokenSource(settings, options).current();
    const approved =
      flags.approved === undefined ? undefined : await readApprovedPlan(flags.approved, source);
    if (approved !== undefined) refuseChangedOptions(context, approved);
    const created = await createRun(store, {
      source,
      options: approved ? { ...approved.options, ...canary } : options,
      runId: flags.runId,
      attribution: attributionOf(context),
      approved,
      from: { as, of, rowNumbers, histories },
    });
    const place = { ...context, ...(approved && { approved }) };
    const planned = await approvedOrDiscarded(place, created, [as, of.id, ...choice]);
    if (!(await isAgreed(place, planned, proxy))) return exitCodes.usage;
    return await execute(place, planned.record, planned.journal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether only the rows are to be shown, or their plan written. */
export function isPreview({ plan, out }: Flags): boolean {
  return plan === true || out !== undefined;
}

/** Shows the rows like `cqbatch plan`. */
async function preview(
  context: Context,
  input: { readonly path: string; readonly name: string; readonly options: RunOptions },
  proxy: string | undefined,
): Promise<ExitCode> {
  const checked = await checkManifest(context.store, input);
  const { sha256 } = await hashFile(input.path);
  // The original run was allowed to omit fields.
  const planned = { ...(await planOf(context, checked, input.options, sha256, proxy)), allowPartial: true };
  const written =
    context.flags.out === undefined ? undefined : await writePlan(context.flags.out, input, planned);
  printPlan(context.terminal, planned, written);
  const next = written === undefined ? '' : ` Next: cqbatch approve ${shellWord(written.file)}`;
  context.terminal.say(`Nothing was sent.${next}`);
  return exitCodes.success;
}

/** Writes the plan of the rows, and the rows beside it. */
async function writePlan(
  out: string,
  { path, options }: { readonly path: string; readonly options: RunOptions },
  { scan, skipInvalid, allowPartial }: Plan,
): Promise<ApprovedPlan> {
  const file = planFile(out);
  const source = `${file.slice(0, -planSuffix.length)}.jsonl`;
  if (!(await onDisk(source, () => createFile(source, bytesOf(path)))))
    throw usageError(
      'PLAN_EXISTS',
      `${escapeInvisible(source)} already exists: remove it, or choose another name.`,
    );
  const kept = { source, options, counts: scan, skip_invalid: skipInvalid, allow_partial: allowPartial };
  return writeApprovedPlan(file, kept);
}

/**
 * @param doing the command: `retry` or `undo`
 * @throws a usage or busy error when another run may call rows of this run, too
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
    `Run ${unfinished.id}, which ${what} run ${id}, is ${state}: "${resumeCommand(unfinished)}" continues it, ` +
      `or cancel it ("cqbatch cancel ${unfinished.id}") before you ${doing} them again.`,
  );
}
