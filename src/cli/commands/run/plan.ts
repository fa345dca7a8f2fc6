import { join } from 'node:path';
import { hashFile } from '../../../base/disk/hash-file.ts';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { shellLine } from '../../../base/text/command-words.ts';
import { clockTime } from '../../../base/text/local-time.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { actorText } from '../../../domain/terms.ts';
import { inputKind } from '../../../engine/manifest/text/source.ts';
import type { PlanEnd } from '../../../engine/report/plan-page/plan-page-data.ts';
import type { RowCounts } from '../../../engine/rows/row-counts.ts';
import { type CheckedManifest, checkManifest } from '../../../engine/run/plan/check-manifest.ts';
import { type ManifestOrigin, planStaged } from '../../../engine/run/plan/create-run.ts';
import { type PlanFile, planSuffix, writePlanFile } from '../../../engine/run/plan/file/plan-file.ts';
import type { ReadPlan } from '../../../engine/run/plan/file/read-plan-file.ts';
import type { PlannedRows } from '../../../engine/run/plan/planned-rows.ts';
import { isReady, readyRows } from '../../../engine/run/plan/readiness.ts';
import { rowsFile } from '../../../engine/run/record/run-rows.ts';
import { groupOption, newRunOptions, rowOptions } from '../../../settings/run-options.ts';
import { defaults } from '../../../settings/settings.ts';
import type { Flags } from '../../config.ts';
import { type CommandContext, openPlanningContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { sentText } from '../../render/changes.ts';
import { optionTexts } from '../../render/options.ts';
import { type Plan, planDocument } from '../../render/plan.ts';
import { linkedText } from '../../render/style.ts';
import { fingerprint } from '../../render/words.ts';
import { proxyTo } from '../api-client.ts';
import { listsToCompare } from '../listing.ts';
import { baseUrlOf, differingOptions, runOptions, runWords } from '../options.ts';
import { withNamedPlan } from './named-plan.ts';
import type { PagedPlan } from './plan-page.ts';
import { manifestOf, planOf, planTextFor, readingManifest } from './planned-run.ts';

export async function plan(source: string, flags: Flags): Promise<ExitCode> {
  return planManifestOrPlan(await openPlanningContext(flags), source);
}

/** @param origin of a manifest that is not known by its path */
export async function planManifestOrPlan(
  opened: CommandContext,
  source: string,
  origin?: ManifestOrigin,
): Promise<ExitCode> {
  const out = outFileOf(opened, source);
  await requirePageFile(opened.flags);
  return withNamedPlan(opened, source, async (context) => {
    const { terminal, planFile } = context;
    const looked =
      planFile === undefined
        ? await reviewManifest(context, source, out, origin)
        : await reviewPlan(context, planFile, source);
    if (typeof looked === 'number') return looked;
    const { planned, writtenPlan, page } = looked;
    printPlan(context, planned, writtenPlan, page);
    if (!isReady(planned)) {
      terminal.say(sentText(planned));
      return exitCodes.usage;
    }
    if (planFile !== undefined) terminal.say(planFileText(planFile));
    if (writtenPlan !== undefined)
      terminal.say(`Wrote ${escapeInvisible(writtenPlan.file)} (SHA-256 ${writtenPlan.sha256}).`);
    terminal.say(`${sentText(planned)} Next: ${nextCommand(context, writtenPlan ?? planFile, source)}`);
    return exitCodes.success;
  });
}

export function printPlan(
  context: Pick<CommandContext, 'terminal' | 'flags'>,
  planned: Plan,
  written: PlanFile | undefined,
  page: string | undefined,
): void {
  const { terminal } = context;
  terminal.result(
    {
      ...planDocument(planned),
      ...(written && { plan_file: written.file, plan_sha256: written.sha256 }),
      ...(page !== undefined && { page }),
    },
    `${planTextFor(context, planned, page === undefined ? '--open shows all' : undefined)}\n`,
  );
  if (page !== undefined) terminal.say(`Page: ${linkedText(page, page)}`);
}

interface ReviewedPlan {
  readonly planned: Plan;
  readonly writtenPlan?: PlanFile | undefined;
  /** The path of the plan's page, if the user wants one. */
  readonly page?: string | undefined;
}

async function reviewPlan(
  context: CommandContext,
  planFile: ReadPlan,
  source: string,
): Promise<ReviewedPlan> {
  const { store, flags, settings } = context;
  const { options, planned, path } = planFile;
  const rows = await readyRows(store, planned, options, { ...settings, skipInvalid: flags.skipInvalid });
  const plan = await planOf(context, rows, options, proxyTo(options), manifestOf(planned));
  const { head } = planned;
  const end = endOf(context, plan, head, planFile, source);
  return { planned: plan, page: await pageIfWanted(context, { planned: plan, head, rows: path, end }) };
}

async function reviewManifest(
  context: CommandContext,
  source: string,
  out: string | undefined,
  origin: ManifestOrigin | undefined,
): Promise<ReviewedPlan | ExitCode> {
  const { settings, flags, store } = context;
  const baseUrl = baseUrlOf(flags, settings);
  const proxy =
    baseUrl === undefined ? undefined : proxyTo({ baseUrl, allowInsecureHttp: flags.allowInsecureHttp });
  const reading = rowOptions(flags, settings);
  const { rate = defaults.rate } = settings;
  const options = {
    onConflict: reading.onConflict ?? defaults.onConflict,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(rate && { rate }),
    ...groupOption(settings),
  };
  const planFrom = async (checked: CheckedManifest, sha256: string): Promise<Plan> => {
    const judged = await readyRows(store, checked, options, { ...settings, skipInvalid: flags.skipInvalid });
    return planOf(context, judged, options, proxy, sha256);
  };
  const { skipDone, skipInvalid: skip_invalid = false } = flags;
  const consent = ({ partial }: RowCounts) => ({ skip_invalid, allow_partial: partial > 0 });
  return readingManifest(context, async (input, _, defer) => {
    const lists = await listsToCompare(context, input.signal, defer);
    if (
      out === undefined &&
      !wantsPage(flags) &&
      source !== '-' &&
      (await inputKind(source, source, input)) === 'file'
    ) {
      const { sha256 } = await hashFile(source);
      const checking = { path: source, name: source, reading, context: input, skipDone, baseUrl, lists };
      return { planned: await planFrom(await checkManifest(store, checking), sha256) };
    }
    // Copy the manifest first: a pipe can be read only once, and a written plan must have the rows that were hashed.
    return withTemporaryFolder(store.stateDir, 'plan', async (folder) => {
      const reviewed = out === undefined ? options : runOptions(context);
      const manifest = { source, origin, reading, input, skipDone, lists };
      const checked = await planStaged(store, folder, manifest, reviewed, consent);
      const planned = await planFrom(checked, checked.head.source.sha256);
      const path = join(folder, rowsFile);
      const writtenPlan =
        out !== undefined && isReady(planned) ? await writePlanFile(out, path, checked) : undefined;
      const end = endOf(context, planned, checked.head, writtenPlan, source);
      const page = await pageIfWanted(context, { planned, head: checked.head, rows: path, end });
      return { planned, writtenPlan, page };
    });
  });
}

export function wantsPage({ open, planPage }: Flags): boolean {
  return open === true || planPage !== undefined;
}

/** Checks the path of `--html`. @throws a usage error for an invalid name, or a file that is no page of a plan */
export async function requirePageFile({ planPage: page }: Flags): Promise<void> {
  if (page === undefined) return;
  if (!/\.html?$/i.test(page))
    throw usageError('INVALID_SETTING', `--html "${page}": write a name that ends with .html.`);
  const { refuseOtherFile } = await import('../../../engine/report/plan-page/plan-page-file.ts');
  await refuseOtherFile(page);
}

/** Writes and opens the page of a plan if the user wants one. */
export async function pageIfWanted(context: CommandContext, plan: PagedPlan): Promise<string | undefined> {
  if (!wantsPage(context.flags)) return undefined;
  const { showPlanPage } = await import('./plan-page.ts');
  const { command } = plan.end;
  if (command === undefined) return showPlanPage(context, plan);
  return showPlanPage(context, {
    ...plan,
    end: { ...plan.end, command: context.terminal.completed(command) },
  });
}

function endOf(
  context: CommandContext,
  planned: Plan,
  { source: { name, sha256 } }: PlannedRows['head'],
  plan: PlanFile | undefined,
  source: string,
): PlanEnd {
  const { flags } = context;
  if (!isReady(planned))
    return { of: name, sha256, command: commandLine(['plan', source, '--open', ...runWords(flags)]) };
  const command = nextCommand(context, plan, source);
  if (plan !== undefined) return { of: plan.file, sha256: plan.sha256, command };
  const note = `A run reads ${name} again. To run exactly what this page shows, write it to a plan with --out NAME${planSuffix}.`;
  return { of: name, sha256, command, note };
}

function nextCommand({ flags }: CommandContext, plan: PlanFile | undefined, source: string): string {
  return plan === undefined ? commandLine(['run', source, ...runWords(flags)]) : runOfPlan(plan);
}

/** The command that runs a plan. Its SHA-256 makes sure that the shown plan is run, whatever becomes of the file. */
export function runOfPlan({ file, sha256 }: PlanFile): string {
  return commandLine(['run', file, '--sha256', sha256]);
}

export function commandLine(words: readonly string[]): string {
  return `cqbatch ${shellLine(words)}`;
}

function planFileText(plan: PlanFile): string {
  const { file, sha256, head } = plan;
  const { made_at: at, made_by: maker } = head;
  const made = `made ${clockTime(new Date(at))}${maker === undefined ? '' : ` by ${actorText(maker)}`}`;
  return [`${file} (SHA-256 ${sha256}), ${made}.`, optionsText(plan)].map(escapeInvisible).join('\n');
}

function optionsText({ options, head, consent }: PlanFile): string {
  const usual = { ...newRunOptions({}, {}), clearToken: defaults.clearToken };
  const planned = { ...head.reading, ...options, clearToken: head.clear_token };
  const differing = differingOptions(usual, planned).map(({ name, valueNow = 'none' }) => [name, valueNow]);
  const { flags, settings } = optionTexts(Object.fromEntries(differing));
  const consents = [
    ...(consent.skip_invalid ? ['--skip-invalid'] : []),
    ...(consent.allow_partial ? ['--allow-partial'] : []),
  ];
  const texts = [
    [...flags, ...consents].join(' '),
    ...settings,
    ...head.operations.flatMap(({ name, module }) =>
      module === undefined ? [] : [`${name} of a module with the fingerprint ${fingerprint(module)}`],
    ),
  ].filter(Boolean);
  return `Options: ${texts.length === 0 ? 'the usual ones' : `${texts.join(', ')}; the others as usual`}.`;
}

/** The path of the plan to write. @throws a usage error for an invalid name, a source that is a plan, or without a base URL */
function outFileOf(context: CommandContext, source: string): string | undefined {
  const { out } = context.flags;
  if (out === undefined) return undefined;
  const file = planFileName(out);
  if (source.endsWith(planSuffix))
    throw usageError(
      'INVALID_SETTING',
      `--out: ${escapeInvisible(source)} is a plan already; copy the file.`,
    );
  runOptions(context);
  return file;
}

export function planFileName(out: string): string {
  if (out.endsWith(planSuffix)) return out;
  throw usageError('INVALID_SETTING', `--out "${out}": write a name that ends with ${planSuffix}.`);
}
