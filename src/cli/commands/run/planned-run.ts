import { type Defer, withScope } from '../../../base/async/scope.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { shellLine } from '../../../base/text/command-words.ts';
import { counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { LimitedApi } from '../../../domain/terms.ts';
import type { TokenSource } from '../../../engine/api/token/token.ts';
import type { InputOptions } from '../../../engine/manifest/stage.ts';
import { findOperation } from '../../../engine/operation/operation.ts';
import { requestOfValues } from '../../../engine/operation/shown-request.ts';
import {
  beginRun,
  type Confirmation,
  type CreatedRun,
  type CreateRunInput,
  type JudgedRun,
  type ManifestOrigin,
} from '../../../engine/run/plan/create-run.ts';
import { findEarlierRun } from '../../../engine/run/plan/earlier-runs.ts';
import type { ReadPlan } from '../../../engine/run/plan/file/read-plan-file.ts';
import { refuseOutdatedPlan, refuseUsedPlan } from '../../../engine/run/plan/plan-use.ts';
import type { PlannedRows } from '../../../engine/run/plan/planned-rows.ts';
import { type ReadyRows, refusalOf, unreadyText } from '../../../engine/run/plan/readiness.ts';
import type { RunOptions } from '../../../engine/run/record/record.ts';
import { rowOptions } from '../../../settings/run-options.ts';
import { defaults } from '../../../settings/settings.ts';
import { fileThatSays } from '../../config.ts';
import type { CommandContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { interruptible } from '../../interrupt.ts';
import { sentText } from '../../render/changes.ts';
import type { Forecast } from '../../render/forecast.ts';
import { type Plan, planDocument, planText, problemText } from '../../render/plan.ts';
import { shownRequests } from '../../render/planned-calls.ts';
import { estimatedLimits, needsCommand, proxyTo, tokenSource, wayTo } from '../api-client.ts';
import { listsToCompare } from '../listing.ts';
import { attributionOf, planWords, runOptions, sayIfTomorrow } from '../options.ts';

/**
 * Plans a run and asks for consent. Returns an exit code when rows are invalid or the user declines.
 *
 * @param origin where the manifest was before an inbox moved it
 */
export async function planRun(
  context: CommandContext,
  source: string,
  callsHere: boolean,
  origin?: ManifestOrigin,
): Promise<CreatedRun | ExitCode> {
  const { store, flags, settings, planFile } = context;
  const options = runOptions(context);
  const attribution = attributionOf(context);
  const proxy = callsHere ? proxyTo(options) : undefined;
  requireConsent(context, ['plan', source, ...planWords(flags)], source);
  if (planFile !== undefined) {
    warnOfOtherOperations(context, planFile);
    await refuseUsedPlan(store, planFile, flags.runId);
    await refuseOutdatedPlan(store, planFile);
  }
  return readingManifest(context, async (input, endReading, defer) => {
    const rows: CreateRunInput['rows'] =
      planFile === undefined
        ? {
            kind: 'manifest',
            source,
            origin,
            reading: rowOptions(flags, settings),
            input,
            skipDone: flags.skipDone,
            lists: await listsToCompare(context, input.signal, defer),
          }
        : { kind: 'rows', path: planFile.path, planned: planFile.planned, planFile, origin };
    const permits = { ...settings, skipInvalid: flags.skipInvalid };
    const begun = await beginRun(
      store,
      { rows, options, permits, runId: flags.runId, attribution },
      askingUser(context, proxy, (run) => {
        endReading();
        return planOf(context, run, options, proxy, manifestOf(run));
      }),
    );
    return begun ?? exitCodes.usage;
  });
}

/**
 * Does work that reads a manifest and sends nothing. Lets the user stop the work, and says when it waits for input. Returns an exit code
 * when the user stopped the work.
 *
 * @param work may call `endReading` when everything is read; then Ctrl-C no longer stops reading
 */
export async function readingManifest<Result>(
  { terminal, store, settings: { compare, maxManifestSize = defaults.maxManifestSize } }: CommandContext,
  work: (
    input: InputOptions & { readonly signal: AbortSignal },
    endReading: () => void,
    defer: Defer,
  ) => Promise<Result>,
): Promise<Result | ExitCode> {
  const interrupt = interruptible(() => {});
  const input = {
    operations: store.operations,
    maxBytes: maxManifestSize,
    signal: interrupt.signal,
    onWaiting: (name: string) =>
      terminal.warn(
        name === '<stdin>'
          ? 'Waiting for the manifest on standard input. Press Ctrl-C to cancel.'
          : `Waiting for the manifest on the pipe ${escapeInvisible(name)}. Press Ctrl-C to cancel.`,
      ),
  };
  try {
    const endReading = (): void => {
      interrupt.release();
      interrupt.signal.throwIfAborted();
    };
    return await withScope((defer) => work(input, endReading, defer));
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    terminal.result({ state: 'interrupted' }, compare ? 'Nothing was changed.' : 'Nothing was sent.');
    return exitCodes.interrupted;
  } finally {
    interrupt.release();
  }
}

/**
 * Checks that the user can be asked for consent, or has given it.
 *
 * @param plan the words of the command that shows the plan
 * @throws a usage error when the user can't be asked, and `--yes` is missing
 */
export function requireConsent(
  { terminal, flags: { yes } }: CommandContext,
  plan: readonly string[],
  source?: string,
): void {
  if (yes || (terminal.canAsk && source !== '-')) return;
  const why = source === '-' ? 'the manifest comes from standard input' : terminal.whyMute;
  throw usageError(
    'CONSENT_MISSING',
    `Can't ask for confirmation, because ${why}: check the plan with "cqbatch ${shellLine(plan)}", then pass --yes.`,
  );
}

/** Shows the plan, then asks for consent unless `--yes` or a plan has given it. */
export function askingUser(
  context: CommandContext,
  proxy: string | undefined,
  plan: (run: JudgedRun) => Promise<Plan>,
): Confirmation {
  const { terminal, flags } = context;
  let planned: Plan;
  return {
    async show(run) {
      planned = await plan(run);
      showPlan(context, planned);
    },
    async confirm(run) {
      const { callable } = run.scan;
      await sayIfTomorrow(context);
      const isNew = isNewByPlan(context, run);
      if (flags.yes && !isNew) return true;
      const novelty = isNew ? ', which no run of this state folder has called' : '';
      const question = `Send ${counted(callable, 'request')} to ${wayTo(run.record.options, proxy)}${novelty}?`;
      const { offerPlanPage } = await import('./plan-page.ts');
      const look = await offerPlanPage(context, run, planned);
      if (await isConfirmed(context, question, callable, look)) return true;
      terminal.result({ state: 'declined' }, sentText(run));
      return false;
    },
  };
}

/**
 * Whether a plan brings a new address: only the plan names it, and no run of the state folder has called it.
 *
 * @throws a usage error `CONSENT_MISSING` for such an address if the user can't be asked
 */
function isNewByPlan(
  { planFile, terminal, settings }: CommandContext,
  { baseUrl, isNewTarget }: ReadyRows,
): boolean {
  if (planFile === undefined || settings.baseUrl !== undefined || !isNewTarget) return false;
  if (terminal.canAsk) return true;
  throw usageError(
    'CONSENT_MISSING',
    `${escapeInvisible(planFile.file)} names the address ${baseUrl}, which no run of this state folder has called: pass --base-url ${baseUrl} if it is right.`,
  );
}

/** Asks for consent. Above the limit, the user types the number of requests, which proves that it was read. @param look shows the page */
function isConfirmed(
  { terminal, settings: { confirmAbove = defaults.confirmAbove } }: CommandContext,
  question: string,
  requests: number,
  look: () => Promise<void>,
): Promise<boolean> {
  return requests > confirmAbove
    ? terminal.confirmNumber(question, requests, look)
    : terminal.confirm(question, undefined, look);
}

/** Shows the plan before a question, and why the plan is not ready. */
function showPlan(context: CommandContext, planned: Plan): void {
  const { terminal, onRefused } = context;
  terminal.say(`${planTextFor(context, planned)}\n`);
  const code = refusalOf(planned);
  if (code === undefined) return;
  const message = `${unreadyText(planned)} ${sentText(planned)}`;
  const problems = problemText(planned);
  onRefused?.({ refusalMessage: `${problems}\n${message}`.trim(), problems: planned.problems.file });
  if (terminal.json) terminal.result({ error: { code, message }, plan: planDocument(planned) }, '');
  if (terminal.quiet) terminal.warn(problems);
  terminal.warn(`error: ${message}`);
}

export function planTextFor(
  { terminal, flags }: Pick<CommandContext, 'terminal' | 'flags'>,
  planned: Plan,
  allRows?: string,
): string {
  return planText(planned, { columns: terminal.columns, requests: flags.verbose, allRows });
}

/**
 * Puts together what a plan shows. Without a base URL, the plan has no facts about the API.
 *
 * @param proxy without its password
 * @param sha256 of the manifest, to find its earlier run; undefined for rows of another run, which are repeated on purpose
 */
export async function planOf(
  context: CommandContext,
  rows: Omit<Plan, keyof Forecast | 'earlier' | 'requests'> & ReadyRows,
  { rateGroup, rate }: Partial<Pick<RunOptions, 'rateGroup' | 'rate'>>,
  proxy: string | undefined,
  sha256: string | undefined,
): Promise<Plan> {
  const { planFile, settings, flags, store } = context;
  const { baseUrl } = rows;
  const bound = rate?.perSecond;
  const wanted = bound === undefined ? undefined : { perSecond: bound, isWanted: true };
  const limit = rate?.auto && baseUrl ? await limitOf(context, { baseUrl, rateGroup }) : undefined;
  const isLower = limit !== undefined && limit < (bound ?? Number.POSITIVE_INFINITY);
  const isOwnChoice = planFile === undefined && settings.baseUrl !== undefined;
  const mayBeRepeated = flags.skipDone === undefined && baseUrl !== undefined && sha256 !== undefined;
  return {
    ...rows,
    requests: rows.scan.preview
      .slice(0, shownRequests)
      .map(({ operation, values }) =>
        requestOfValues(store.operations, { operation: operation.name, values }),
      ),
    rateGroup,
    baseUrlFile: isOwnChoice ? fileThatSays('baseUrl', flags) : undefined,
    proxy,
    rate: isLower ? { perSecond: limit, isWanted: false } : wanted,
    earlier: mayBeRepeated ? await findEarlierRun(store, sha256, baseUrl) : undefined,
  };
}

/** The SHA-256 of a plan's manifest. Undefined for rows of another run. */
export function manifestOf({ head }: Pick<PlannedRows, 'head'>): string | undefined {
  return head.derived === undefined ? head.source.sha256 : undefined;
}

/** The calls per second that the API last permitted. */
async function limitOf(context: CommandContext, api: LimitedApi): Promise<number | undefined> {
  const token = tokenIfAny(context, api);
  const estimates = token && (await estimatedLimits(context.store, api, token));
  return (await estimates?.load())?.limit;
}

/** The token for a plan. A plan sends nothing, so it does not run a token command. */
function tokenIfAny(workplace: CommandContext, api: LimitedApi): TokenSource | undefined {
  try {
    return needsCommand(workplace.settings) ? undefined : tokenSource(workplace, api);
  } catch {
    return undefined;
  }
}

/** Warns of operations that have changed since the plan, because they interpret the answers. */
function warnOfOtherOperations({ terminal, store }: CommandContext, { head, file }: ReadPlan): void {
  for (const { name, module } of head.operations) {
    const loaded = findOperation(store.operations, name);
    if (loaded === undefined || loaded.module === module) continue;
    terminal.warn(
      `warning: the module of the operation ${name} is not the one that ${escapeInvisible(file)} was made with: answers may be understood differently.`,
    );
  }
}
