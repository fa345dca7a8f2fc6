import { usageError } from '../../../errors.ts';
import {
  type CreatedRun,
  type CreateRunInput,
  createRun,
  type DoneRows,
  defaults,
  discard,
  findEarlierRun,
  type InputOptions,
  lookUpTarget,
  type ManifestOrigin,
  type PlannedRows,
  type RowOptions,
  type RunOptions,
  readDone,
  refusalOf,
  rowOptions,
  verdictText,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { counted } from '../../../text/quantities.ts';
import { shellWord } from '../../../text/shell-word.ts';
import type { Workplace } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { interruptible } from '../../interrupt.ts';
import { type Plan, planDocument, planText } from '../../render/plan.ts';
import { problemText } from '../../render/problems.ts';
import { proxyTo, wayTo } from '../api-client.ts';
import { attributionOf, planWords, runOptions, sayIfTomorrow } from '../options.ts';
import { withApprovals } from './approval.ts';
import { forecastOf } from './forecast-of.ts';
import { refuseOutdated, warnOfOtherOperations } from './refusals.ts';

/**
 * Plans a run, shows the plan and asks.
 *
 * @param callsHere whether this process will call the API
 * @param origin of a manifest that was moved aside
 * @returns the run, or an exit code when rows are invalid or the user declines
 */
export async function planRun(
  workplace: Workplace,
  source: string,
  callsHere: boolean,
  origin?: ManifestOrigin,
): Promise<CreatedRun | ExitCode> {
  const { terminal, store, flags, settings, approved } = workplace;
  const options = runOptions(workplace);
  const attribution = attributionOf(workplace);
  const proxy = callsHere ? proxyTo(options) : undefined;
  requireConsent(workplace, source);
  if (approved !== undefined) {
    warnOfOtherOperations(workplace, approved);
    await refuseOutdated(store, approved);
  }
  const created = await readingManifest(workplace, async (input) => {
    const reading = rowOptions(flags, settings);
    const rows: CreateRunInput['rows'] =
      approved === undefined
        ? {
            kind: 'manifest',
            source,
            origin,
            reading,
            input,
            done: await doneBefore(workplace, { ...reading, baseUrl: options.baseUrl }, input),
          }
        : { kind: 'rows', path: approved.path, planned: approved.planned, approved, origin };
    return createRun(store, { rows, options, runId: flags.runId, attribution });
  });
  if (typeof created === 'number') return created;
  const { record } = created;
  let planned: Plan;
  try {
    planned = await planOf(workplace, created, record.options, manifestOf(created), proxy);
  } catch (error) {
    await discard(store, record, created.journal);
    throw error;
  }
  terminal.say(planText(planned));
  const refusal = refusalOf(planned);
  if (refusal !== undefined) {
    await discard(store, record, created.journal);
    return refuse(workplace, planned, refusal);
  }
  terminal.say(`\n${verdictText(planned)}`);
  const approvedRun = await approvedOrDiscarded(workplace, created, [
    'plan',
    origin?.name ?? source,
    ...planWords(flags),
  ]);
  return (await isAgreed(workplace, approvedRun, proxy)) ? approvedRun : exitCodes.usage;
}

/**
 * The run with the approvals that the settings want; otherwise discards it.
 *
 * @param planWords of the command that writes its plan
 * @throws what `withApprovals` throws
 */
export async function approvedOrDiscarded(
  workplace: Workplace,
  created: CreatedRun,
  planWords: readonly string[],
): Promise<CreatedRun> {
  const command = ['cqbatch', ...planWords].map(shellWord).map(escapeInvisible).join(' ');
  try {
    const record = await withApprovals(workplace, created, command);
    await workplace.onPlanned?.(record);
    return { ...created, record };
  } catch (error) {
    await discard(workplace.store, created.record, created.journal);
    throw error;
  }
}

/** The runs and reports of `--skip-done`, if any. */
export async function doneBefore(
  { store, flags: { skipDone } }: Workplace,
  { baseUrl, map, clearToken }: Partial<Pick<RunOptions, 'baseUrl'>> & Pick<RowOptions, 'map' | 'clearToken'>,
  context: InputOptions,
): Promise<DoneRows | undefined> {
  if (skipDone === undefined) return undefined;
  return readDone(store, skipDone, { baseUrl, map, clearToken, context });
}

/**
 * Does work that reads a manifest and sends nothing. The user can stop it, and is told about waiting for a pipe or standard
 * input.
 *
 * @returns the result of `work`, or an exit code when the user stops it
 */
export async function readingManifest<Result>(
  { terminal, store, settings: { maxManifestSize = defaults.maxManifestSize } }: Workplace,
  work: (input: InputOptions) => Promise<Result>,
): Promise<Result | ExitCode> {
  const interrupt = interruptible(() => {});
  try {
    return await work({
      operations: store.operations,
      maxBytes: maxManifestSize,
      signal: interrupt.signal,
      onWaiting: (name) =>
        terminal.warn(
          name === '<stdin>'
            ? 'Waiting for the manifest on standard input. Press Ctrl-C to cancel.'
            : `Waiting for the manifest on the pipe ${escapeInvisible(name)}. Press Ctrl-C to cancel.`,
        ),
    });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    terminal.result({ state: 'interrupted' }, 'Nothing was sent.');
    return exitCodes.interrupted;
  } finally {
    interrupt.release();
  }
}

/**
 * Checks in advance whether the user can be asked.
 *
 * @throws a usage error when not, and `--yes` is missing
 */
export function requireConsent({ terminal, flags: { yes } }: Workplace, source?: string): void {
  if (yes || (terminal.canAsk && source !== '-')) return;
  const why = source === '-' ? 'the manifest comes from standard input' : 'this is not a terminal';
  throw usageError(
    'CONSENT_MISSING',
    `Can't ask for confirmation, because ${why}: check the plan with "cqbatch plan", then pass --yes.`,
  );
}

/** Asks whether a run may start, unless `--yes` or its plan says so. Otherwise discards the run. */
export async function isAgreed(
  workplace: Workplace,
  { scan, record, journal }: CreatedRun,
  proxy: string | undefined,
): Promise<boolean> {
  const { terminal, store, flags } = workplace;
  const way = wayTo(record.options, proxy);
  const requests = counted(scan.callable, 'request');
  await sayIfTomorrow(workplace);
  let agreed = false;
  try {
    const isNew = await isNewByPlan(workplace, record.options);
    const news = isNew ? ', which no run of this state folder has called' : '';
    agreed = flags.yes === true && !isNew;
    agreed ||= await isConfirmed(workplace, `Send ${requests} to ${way}${news}?`, scan.callable);
  } finally {
    if (!agreed) await discard(store, record, journal);
  }
  if (agreed) return true;
  terminal.result({ state: 'declined' }, 'Nothing was sent.');
  return false;
}

/**
 * Whether only the file of a plan names the address, and no run of the state folder has called it.
 *
 * @throws a usage error `CONSENT_MISSING` for such an address where the user can't be asked
 */
async function isNewByPlan(
  { approved, terminal, store, settings }: Workplace,
  { baseUrl }: Pick<RunOptions, 'baseUrl'>,
): Promise<boolean> {
  if (approved === undefined || settings.baseUrl !== undefined) return false;
  const { isNew } = await lookUpTarget(store.stateDir, baseUrl);
  if (!isNew || terminal.canAsk) return isNew;
  throw usageError(
    'CONSENT_MISSING',
    `${escapeInvisible(approved.file)} names the address ${baseUrl}, which no run of this state folder has called: pass --base-url ${baseUrl} if it is right.`,
  );
}

/** Asks about a number of requests. For a large one, the user types it, which proves that it was read. */
export function isConfirmed(
  { terminal, settings: { confirmAbove = defaults.confirmAbove } }: Workplace,
  question: string,
  requests: number,
): Promise<boolean> {
  return requests > confirmAbove ? terminal.confirmNumber(question, requests) : terminal.confirm(question);
}

/** SHA-256 of the manifest that is planned; undefined for rows of another run, which were called before on purpose. */
export function manifestOf({ head }: Pick<PlannedRows, 'head'>): string | undefined {
  return head.derived === undefined ? head.source.sha256 : undefined;
}

/**
 * The plan of checked rows with these options.
 *
 * @param sha256 of the manifest, to find an earlier run of it
 */
export async function planOf(
  workplace: Workplace,
  checked: Pick<Plan, 'manifest' | 'scan' | 'choice' | 'problems'>,
  options: Partial<Pick<RunOptions, 'baseUrl' | 'rateGroup' | 'rate' | 'onConflict'>>,
  sha256: string | undefined,
  proxy: string | undefined,
): Promise<Plan> {
  const { store, flags, settings } = workplace;
  const { skipInvalid = false, skipDone } = flags;
  const { baseUrl, onConflict = defaults.onConflict } = options;
  // With --skip-done, the user knows about earlier runs.
  const isNews = skipDone === undefined && baseUrl !== undefined && sha256 !== undefined;
  const { manifest, scan, choice, problems } = checked;
  return {
    manifest,
    scan,
    choice,
    problems,
    ...(await forecastOf(workplace, options, proxy)),
    skipInvalid,
    allowPartial: settings.allowPartial === true,
    allowEmpty: settings.allowEmpty === true,
    onConflict,
    earlier: isNews ? await findEarlierRun(store, sha256, baseUrl) : undefined,
  };
}

/** Prints why a plan is refused. */
function refuse({ terminal, onRefused }: Workplace, planned: Plan, code: string): ExitCode {
  const message = `${verdictText(planned)} Nothing was sent.`;
  const problems = problemText(planned);
  onRefused?.({ text: `${problems}\n${message}`.trim(), problems: planned.problems.file });
  if (terminal.json) terminal.result({ error: { code, message }, plan: planDocument(planned) }, '');
  if (terminal.quiet) terminal.warn(problems);
  terminal.warn(`error: ${message}`);
  return exitCodes.usage;
}
