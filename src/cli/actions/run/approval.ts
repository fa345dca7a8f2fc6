import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { thisActor } from '../../../actor.ts';
import { CqbatchError, usageError } from '../../../errors.ts';
import {
  type ApprovalPolicy,
  type ApprovedPlan,
  approvalPolicy,
  type CreatedRun,
  changedOptions,
  claimPlan,
  contentRunId,
  exists,
  givenRowOptions,
  groupOption,
  judgeApprovals,
  needsApproval,
  optionInWords,
  planSuffix,
  type RunRecord,
  readApprovedPlan,
  requireApprovals,
  type ScanSummary,
  savingOptions,
  validAmong,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import type { Workplace } from '../../context.ts';
import { baseUrlOf } from '../options.ts';

/**
 * The manifest and options of a run. A signed-off plan supplies its manifest, options and consent instead of the command line.
 *
 * @param source path of the manifest or plan; `-` for standard input
 * @throws a usage error when the plan or its manifest was changed, or an option contradicts the plan
 */
export async function approvedSource<Place extends Workplace>(
  workplace: Place,
  source: string,
): Promise<{ readonly workplace: Place; readonly source: string }> {
  if (!source.endsWith(planSuffix)) return { workplace, source };
  const approved = await readApprovedPlan(source);
  // One id, so that a plan is carried out only once.
  const runId = workplace.flags.runId ?? contentRunId(basename(approved.file), approved.sha256);
  return { workplace: withPlan(workplace, approved, runId), source: approved.source };
}

/**
 * For a manifest that a schedule or an inbox runs: with the plan `NAME.cqplan` beside it, if that has the approvals that the
 * settings want. Otherwise the manifest runs as it would without a plan.
 *
 * @param source path of the manifest now
 * @param given its path when its plan was made
 */
export async function withPlanBeside<Place extends Workplace>(
  workplace: Place,
  source: string,
  given = source,
): Promise<Place> {
  const policy = approvalPolicy(workplace.settings);
  if (Object.keys(policy.above).length === 0) return workplace;
  const file = `${given}${planSuffix}`;
  if (!(await exists(file))) return { ...workplace, besides: { file } };
  try {
    const plan = await readApprovedPlan(file, source);
    if (isApproved(policy, plan)) return withPlan(workplace, plan, workplace.flags.runId);
    return { ...workplace, besides: { file, plan } };
  } catch (error) {
    if (!(error instanceof CqbatchError)) throw error;
    return { ...workplace, besides: { file, trouble: error } };
  }
}

function withPlan<Place extends Workplace>(
  workplace: Place,
  approved: ApprovedPlan,
  runId: string | undefined,
): Place {
  refuseOtherOptions(workplace, approved);
  const { flags, settings } = workplace;
  return {
    ...workplace,
    approved,
    flags: { ...flags, yes: true, skipInvalid: approved.skip_invalid, ...(runId !== undefined && { runId }) },
    settings: { ...settings, allowPartial: settings.allowPartial || approved.allow_partial },
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
export function mayBegin(
  policy: ApprovalPolicy,
  plan: ApprovedPlan | undefined,
  callable: Readonly<Record<string, number>>,
): boolean {
  return !needsApproval(policy, callable) || (plan !== undefined && isApproved(policy, plan));
}

function isApproved({ approvers, needed }: ApprovalPolicy, plan: ApprovedPlan): boolean {
  return validAmong(judgeApprovals(plan, approvers, runHere())).length >= needed;
}

/**
 * The record of a planned run with its approvals. From now on its plan belongs to the run.
 *
 * An agent needs an approval for each run, however small. That of its user counts, too: the settings may demand another person.
 *
 * @param planCommand writes the plan of the run, with `--out` and a file
 * @throws a usage error `APPROVAL_MISSING` when more approvals are needed, `PLAN_USED` when another run has used them
 */
export async function withApprovals(
  { store, settings, approved: found, besides }: Workplace,
  { record, scan }: Pick<CreatedRun, 'record' | 'scan'>,
  planCommand: string,
): Promise<RunRecord> {
  const policy = approvalPolicy(settings);
  const callable = callsOf(scan);
  if (besides?.trouble !== undefined && needsApproval(policy, callable)) throw besides.trouble;
  const plan = found ?? besides?.plan;
  const run = { manifest: record.manifest.name, planCommand, planFile: besides?.file, plan, callable };
  const ofAgent =
    thisActor().via === 'mcp'
      ? requireApprovals({ ...policy, needed: 1, above: { '': 0 } }, { ...run, ...runHere(), user: '' })
      : undefined;
  const signers = requireApprovals(policy, { ...run, ...runHere() });
  const { approval } = record;
  if (found === undefined || approval === undefined) return record;
  const all = (ofAgent ?? signers).map((signer) => ({ ...signer }));
  if (all.length === 0) return record;
  await claimPlan(store, found, record.id);
  return { ...record, approval: { ...approval, signers: all } };
}

/** Omitted options keep the plan's values. */
function refuseOtherOptions(workplace: Workplace, plan: ApprovedPlan): void {
  const { flags, settings } = workplace;
  const { allowInsecureHttp = plan.options.allowInsecureHttp ?? false } = flags;
  const baseUrl = baseUrlOf({ allowInsecureHttp }, settings);
  refuseChangedOptions(workplace, plan, {
    ...givenRowOptions(flags, settings),
    ...(baseUrl !== undefined && { baseUrl }),
    ...groupOption(settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    ...(flags.skipDone && { skipDone: flags.skipDone }),
    skipInvalid: flags.skipInvalid ?? plan.skip_invalid,
  });
}

/**
 * @param given options besides those of calls
 * @throws a usage error for an option that the plan does not have
 */
export function refuseChangedOptions(
  { flags, settings }: Workplace,
  { file, options, skip_invalid }: ApprovedPlan,
  given: Readonly<Record<string, unknown>> = { skipInvalid: skip_invalid },
): void {
  const wanted: Readonly<Record<string, unknown>> = {
    ...changedOptions(options, settings),
    ...savingOptions(flags, options),
    ...given,
  };
  const planned: Readonly<Record<string, unknown>> = { ...options, skipInvalid: skip_invalid };
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(planned)])) {
    const now = wanted[name];
    const then = planned[name];
    if (isDeepStrictEqual(now, then)) continue;
    throw usageError(
      'PLAN_DIFFERS',
      `${escapeInvisible(file)} was signed off with ${optionInWords(name)} ${textOf(then)}, but now it is ${textOf(now)}: leave that ` +
        'out, also in the environment and the configuration file, or make the plan again and have it reviewed.',
    );
  }
}

/** @throws a usage error when the rows differ from those signed off, though the manifest does not */
export function refuseOtherRows({ file, counts, made_by }: ApprovedPlan, scan: ScanSummary): void {
  for (const [name, planned] of Object.entries(counts)) {
    const now = scan[name as keyof typeof counts];
    if (now === planned) continue;
    throw usageError(
      'PLAN_DIFFERS',
      `${escapeInvisible(file)} was signed off for ${planned} rows ${name === 'rows' ? 'in all' : `that are ${name}`}, but this version of ` +
        `cqbatch finds ${now}: use the version that made it${made_by?.version === undefined ? '' : ` (${made_by.version})`}.`,
    );
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return 'not given';
  if (typeof value === 'object' && value !== null && 'text' in value) return String(value.text);
  return escapeInvisible(typeof value === 'string' ? value : JSON.stringify(value));
}
