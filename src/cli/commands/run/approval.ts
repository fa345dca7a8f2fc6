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
 * Does work on what a user names: a manifest, or a plan, which supplies rows, options and consent instead of the command line.
 *
 * @param source path of the manifest or plan; `-` for standard input
 * @throws a usage error when the plan can't be used, or an option contradicts it
 */
export async function withNamedPlan<Place extends CommandContext, Result>(
  workplace: Place,
  source: string,
  work: (workplace: Place) => Promise<Result>,
): Promise<Result> {
  if (!source.endsWith(planSuffix)) return work(workplace);
  return withTemporaryFolder(workplace.store.stateDir, 'plan', async (folder) => {
    const plan = await readPlan(workplace, source, folder);
    // One id, so that a plan is carried out only once.
    const runId = workplace.flags.runId ?? contentRunId(basename(plan.file), plan.sha256);
    return work(withPlan(workplace, plan, runId));
  });
}

/**
 * Does work on a manifest that a schedule or an inbox runs: with the plan `NAME.cqplan` beside it, if that has the approvals that
 * the settings want. Otherwise the manifest runs as it would without a plan.
 *
 * @param source path of the manifest now
 * @param given its path when its plan was made
 */
export async function withPlanBeside<Place extends CommandContext, Result>(
  workplace: Place,
  source: string,
  given: string,
  work: (workplace: Place) => Promise<Result>,
): Promise<Result> {
  const policy = approvalPolicy(workplace.settings);
  if (Object.keys(policy.above).length === 0) return work(workplace);
  const file = `${given}${planSuffix}`;
  if (!(await exists(file))) return work({ ...workplace, besides: { file } });
  const besides = async (folder: string): Promise<Place> => {
    try {
      const plan = await readPlan(workplace, file, folder);
      if ((await hashFile(source)).sha256 !== plan.head.source.sha256) throw otherManifest(source, file);
      if (await isApproved(policy, plan)) return withPlan(workplace, plan, workplace.flags.runId);
      return { ...workplace, besides: { file, plan } };
    } catch (error) {
      if (!(error instanceof CqbatchError)) throw error;
      return { ...workplace, besides: { file, trouble: error } };
    }
  };
  return withTemporaryFolder(workplace.store.stateDir, 'plan', async (folder) => work(await besides(folder)));
}

/** @param folder for a copy of its rows */
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

function withPlan<Place extends CommandContext>(
  workplace: Place,
  approved: ReadPlan,
  runId: string | undefined,
): Place {
  refuseOtherOptions(workplace, approved);
  const { flags, settings } = workplace;
  return {
    ...workplace,
    approved,
    flags: { ...flags, yes: true, skipInvalid: approved.consent.skip_invalid, runId },
    settings: { ...settings, allowPartial: settings.allowPartial || approved.consent.allow_partial },
  };
}

/** The run that this user begins now. */
export function runHere() {
  return { user: thisActor().user, at: Date.now() };
}

/** Calls by operation. */
export function callsOf({
  perOperation,
}: Pick<ScanSummary, 'perOperation'>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(perOperation).map(([name, { callable }]) => [name, callable]));
}

/** Whether a plan has the approvals that a run with these calls needs. */
export async function mayBegin(
  policy: ApprovalPolicy,
  plan: ApprovedPlan | undefined,
  callable: Readonly<Record<string, number>>,
): Promise<boolean> {
  return !needsApproval(policy, callable) || (plan !== undefined && (await isApproved(policy, plan)));
}

async function isApproved(policy: ApprovalPolicy, plan: ApprovedPlan): Promise<boolean> {
  return validAmong(await judgeApprovals(plan, policy, runHere())).length >= policy.needed;
}

/**
 * The record of a planned run with its approvals. From now on its plan belongs to the run.
 *
 * @param planCommand writes the plan of the run, with `--out` and a file
 * @throws a usage error `APPROVAL_MISSING` when more approvals are needed, `PLAN_USED` when another run has used them
 */
export async function withApprovals(
  { store, settings, approved: found, besides }: CommandContext,
  { record, scan }: Pick<CreatedRun, 'record' | 'scan'>,
  planCommand: string,
): Promise<RunRecord> {
  const policy = approvalPolicy(settings);
  const callable = callsOf(scan);
  if (besides?.trouble !== undefined && needsApproval(policy, callable)) throw besides.trouble;
  const plan = found ?? besides?.plan;
  const run = { manifest: record.manifest.name, planCommand, planFile: besides?.file, plan, callable };
  const signers = await requireApprovals(policy, { ...run, ...runHere() });
  const { approval } = record;
  if (found === undefined || approval === undefined) return record;
  if (found.approvals.length === 0) return record;
  await refuseUsedPlan(store, found);
  // Those that do not count here may count for a daemon.
  await keepApprovals(store.folder(record.id), found.approvals);
  return { ...record, approval: { ...approval, signers: [...signers] } };
}

/** @throws a usage error for an option that the plan does not have. Omitted options keep the plan's values. */
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
  throw usageError(
    'PLAN_DIFFERS',
    `${escapeInvisible(file)} was signed off with ${optionInWords(name)} ${valueText(name, before)}, but now it is ${valueText(name, now)}: leave that ` +
      'out, also in the environment and the configuration file, or make the plan again and have it reviewed.',
  );
}
