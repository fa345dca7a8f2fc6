import { basename, join } from 'node:path';
import { exists } from '../../../base/disk/files.ts';
import { hashFile } from '../../../base/disk/hash-file.ts';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { thisActor } from '../../../domain/actor.ts';
import type { ScanSummary } from '../../../engine/manifest/check/scan.ts';
import {
  type ApprovalPolicy,
  judgeApprovals,
  needsApproval,
  requireApprovals,
  validAmong,
} from '../../../engine/run/plan/approvals.ts';
import type { CreatedRun } from '../../../engine/run/plan/create-run.ts';
import { refuseUsedPlan } from '../../../engine/run/plan/plan-claim.ts';
import {
  type ApprovedPlan,
  planSuffix,
  type ReadPlan,
  readPlanFile,
} from '../../../engine/run/plan/plan-file.ts';
import { keepApprovals } from '../../../engine/run/plan/plan-of-run.ts';
import { differingOptions } from '../../../engine/run/record/differing-options.ts';
import type { RunRecord } from '../../../engine/run/record/record.ts';
import { contentRunId } from '../../../engine/run/record/run-id.ts';
import { rowsFile } from '../../../engine/run/record/run-rows.ts';
import {
  approvalPolicy,
  changedOptions,
  givenRowOptions,
  groupOption,
  savingOptions,
} from '../../../settings/run-options.ts';
import { defaults, optionInWords } from '../../../settings/settings.ts';
import type { CommandContext } from '../../context.ts';
import { valueText } from '../../render/audit.ts';
import { baseUrlOf } from '../options.ts';

/**
 * Works on a manifest, or on a plan, which replaces rows, options and consent of the command line.
 *
 * @param source path of the manifest or plan; `-` for standard input
 * @throws a usage error when the plan can't be used, or an option contradicts it
 */
export async function withNamedPlan<SomeContext extends CommandContext, Result>(
  context: SomeContext,
  source: string,
  work: (context: SomeContext) => Promise<Result>,
): Promise<Result> {
  if (!source.endsWith(planSuffix)) return work(context);
  return withTemporaryFolder(context.store.stateDir, 'plan', async (folder) => {
    const plan = await readPlan(context, source, folder);
    // The id depends only on the plan, so that a plan is carried out only once.
    const runId = context.flags.runId ?? contentRunId(basename(plan.file), plan.sha256);
    return work(withPlan(context, plan, runId));
  });
}

/**
 * For a manifest of a schedule or an inbox. Uses the plan `NAME.cqplan` beside it if the plan has the required approvals.
 *
 * @param originalPath the manifest's path when its plan was made
 */
export async function withPlanBeside<SomeContext extends CommandContext, Result>(
  context: SomeContext,
  source: string,
  originalPath: string,
  work: (context: SomeContext) => Promise<Result>,
): Promise<Result> {
  const policy = approvalPolicy(context.settings);
  if (Object.keys(policy.above).length === 0) return work(context);
  const file = `${originalPath}${planSuffix}`;
  if (!(await exists(file))) return work({ ...context, planBeside: { file } });
  const contextIn = async (folder: string): Promise<SomeContext> => {
    try {
      const plan = await readPlan(context, file, folder);
      if ((await hashFile(source)).sha256 !== plan.head.source.sha256) throw otherManifest(source, file);
      if (await isApproved(policy, plan)) return withPlan(context, plan, context.flags.runId);
      return { ...context, planBeside: { file, plan } };
    } catch (error) {
      if (!(error instanceof CqbatchError)) throw error;
      return { ...context, planBeside: { file, error } };
    }
  };
  return withTemporaryFolder(context.store.stateDir, 'plan', async (folder) => work(await contextIn(folder)));
}

/** @param folder receives a copy of the plan's rows */
function readPlan(
  { store, settings: { maxManifestSize = defaults.maxManifestSize } }: CommandContext,
  file: string,
  folder: string,
): Promise<ReadPlan> {
  return readPlanFile(store, file, join(folder, rowsFile), maxManifestSize);
}

function otherManifest(source: string, file: string): CqbatchError {
  return usageError(
    'MANIFEST_CHANGED',
    `${escapeInvisible(source)} is not the manifest of ${escapeInvisible(file)}: restore that one, or make the plan again and have it reviewed.`,
  );
}

function withPlan<SomeContext extends CommandContext>(
  context: SomeContext,
  approved: ReadPlan,
  runId: string | undefined,
): SomeContext {
  refuseOtherOptions(context, approved);
  const { flags, settings } = context;
  return {
    ...context,
    approved,
    flags: { ...flags, yes: true, skipInvalid: approved.consent.skip_invalid, runId },
    settings: { ...settings, allowPartial: settings.allowPartial || approved.consent.allow_partial },
  };
}

export function runByThisUser() {
  return { user: thisActor().user, at: Date.now() };
}

export function callsOf({
  perOperation,
}: Pick<ScanSummary, 'perOperation'>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(perOperation).map(([name, { callable }]) => [name, callable]));
}

export async function mayBegin(
  policy: ApprovalPolicy,
  plan: ApprovedPlan | undefined,
  callable: Readonly<Record<string, number>>,
): Promise<boolean> {
  return !needsApproval(policy, callable) || (plan !== undefined && (await isApproved(policy, plan)));
}

async function isApproved(policy: ApprovalPolicy, plan: ApprovedPlan): Promise<boolean> {
  return validAmong(await judgeApprovals(plan, policy, runByThisUser())).length >= policy.needed;
}

/**
 * Adds the approvals to the record of a planned run. Afterwards no other run can use the plan.
 *
 * @param planCommand for messages: with `--out FILE`, it writes the plan of the run
 * @throws a usage error `APPROVAL_MISSING` when more approvals are needed, `PLAN_USED` when another run has used them
 */
export async function withApprovals(
  { store, settings, approved: approvedPlan, planBeside }: CommandContext,
  { record, scan }: Pick<CreatedRun, 'record' | 'scan'>,
  planCommand: string,
): Promise<RunRecord> {
  const policy = approvalPolicy(settings);
  const callable = callsOf(scan);
  if (planBeside?.error !== undefined && needsApproval(policy, callable)) throw planBeside.error;
  const plan = approvedPlan ?? planBeside?.plan;
  const run = { manifest: record.manifest.name, planCommand, planFile: planBeside?.file, plan, callable };
  const signers = await requireApprovals(policy, { ...run, ...runByThisUser() });
  const { approval } = record;
  if (approvedPlan === undefined || approval === undefined) return record;
  if (approvedPlan.approvals.length === 0) return record;
  await refuseUsedPlan(store, approvedPlan);
  // Approvals that don't count for this user may count for a daemon.
  await keepApprovals(store.folder(record.id), approvedPlan.approvals);
  return { ...record, approval: { ...approval, signers: [...signers] } };
}

/** Omitted options keep the plan's values. */
function refuseOtherOptions(
  { flags, settings }: CommandContext,
  { file, options, head, consent }: ApprovedPlan,
): void {
  const { allowInsecureHttp = options.allowInsecureHttp ?? false, skipDone, skipInvalid } = flags;
  const baseUrl = baseUrlOf({ allowInsecureHttp }, settings);
  const read = { clearToken: head.clear_token, ...head.reading, skipInvalid: consent.skip_invalid };
  const wanted = {
    ...read,
    ...changedOptions(options, settings),
    ...savingOptions(flags, options),
    ...givenRowOptions(flags, settings),
    ...(baseUrl !== undefined && { baseUrl }),
    ...groupOption(settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    ...(skipDone && { skipDone }),
    ...(skipInvalid !== undefined && { skipInvalid }),
  };
  const [other] = differingOptions({ ...read, ...options }, wanted);
  if (other === undefined) return;
  const { name, before, now } = other;
  const option = optionInWords(name);
  throw usageError(
    'PLAN_DIFFERS',
    `${option} was ${valueText(name, before)} when ${escapeInvisible(file)} was made, and is ${valueText(name, now)} now. Remove ${option} (flag, ` +
      'environment, config.json), or make a new plan.',
  );
}
