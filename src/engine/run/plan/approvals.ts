import { readFile } from 'node:fs/promises';
import { usageError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { shellWord } from '../../../base/text/shell-word.ts';
import { signerOf, signText } from '../../signature/ssh-keygen.ts';
import { type Approval, approvalText, approverHere, parseApproval } from './approval-text.ts';
import { type PlanContent, planSuffix } from './plan-file.ts';

export interface ApprovalPolicy {
  /** A file in OpenSSH's form `allowed_signers`; undefined: no approval counts. */
  readonly approvers: string | undefined;
  readonly needed: number;
  /** Runs with more calls need approvals: by operation, and by `''` for all operations together. */
  readonly above: Readonly<Record<string, number>>;
}

export interface CountedApproval extends Pick<Approval, 'at' | 'until'> {
  readonly name: string;
  readonly key: string;
}

type JudgedApproval =
  | ({ readonly counts: true } & CountedApproval)
  /** A sentence part. */
  | { readonly counts: false; readonly why: string };

/**
 * @returns the content of the approval's file
 * @throws a usage error `KEY_UNUSABLE` with what ssh-keygen says
 */
export async function approvePlan(
  plan: PlanContent,
  key: string,
  { validMs, now = Date.now(), by = approverHere() }: { validMs: number; now?: number; by?: Approval['by'] },
): Promise<string> {
  const text = approvalText({
    ...factsOf(plan),
    by,
    at: new Date(now).toISOString(),
    until: new Date(now + validMs).toISOString(),
  });
  try {
    return `${text}${await signText(text, key)}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(
      'KEY_UNUSABLE',
      `Can't sign with ${escapeInvisible(key)} (${error.message}). Pass --key with the file of your key; "ssh-keygen -t ed25519" makes one.`,
      error,
    );
  }
}

function factsOf({ sha256, options, head }: PlanContent) {
  return {
    plan: sha256,
    address: options.baseUrl,
    rows: head.counts.rows,
    calls: head.counts.callable,
  };
}

/** In the order of the file. @throws a usage error `APPROVERS_UNREADABLE` */
export async function approverNames({
  approvers,
}: Pick<ApprovalPolicy, 'approvers'>): Promise<readonly string[]> {
  if (approvers === undefined) return [];
  const text = await readFile(approvers, 'utf8').catch((error: Error) => {
    throw usageError(
      'APPROVERS_UNREADABLE',
      `Can't read the approvers in ${escapeInvisible(approvers)}: ${error.message}. Correct "approvers" in config.json.`,
      error,
    );
  });
  const lines = text.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
  return [...new Set(lines.flatMap((line) => line.trim().split(/\s/)[0]?.split(',') ?? []))];
}

export interface ApprovedRun {
  readonly user: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function validAmong(judged: readonly JudgedApproval[]): readonly CountedApproval[] {
  return judged.flatMap((each) => {
    if (!each.counts) return [];
    const { counts: _, ...approval } = each;
    return [approval];
  });
}

export function whyOthersDoNot(judged: readonly JudgedApproval[]): readonly string[] {
  return judged.flatMap((each) => (each.counts ? [] : [each.why]));
}

/** Judges approvals as of the start of the run. */
export async function judgeApprovals(
  plan: PlanContent,
  { approvers }: Pick<ApprovalPolicy, 'approvers'>,
  run: ApprovedRun,
): Promise<readonly JudgedApproval[]> {
  const keys = new Set<string>();
  const judged: JudgedApproval[] = [];
  for (const content of plan.approvals) {
    const each = await judge(content, plan, approvers, run);
    if (each.counts && keys.has(each.key))
      judged.push({ counts: false, why: `${each.name} has approved it twice` });
    else judged.push(each);
    if (each.counts) keys.add(each.key);
  }
  return judged;
}

async function judge(
  content: string,
  plan: PlanContent,
  approvers: string | undefined,
  run: ApprovedRun,
): Promise<JudgedApproval> {
  const no = (why: string): JudgedApproval => ({ counts: false, why });
  const signed = parseApproval(content);
  if (signed === undefined) return no('a file is not an approval of this version of cqbatch');
  const { approval, text, signature } = signed;
  const subject = `the approval by ${escapeInvisible(approval.by.user)}`;
  if (approvers === undefined) return no(`${subject} is of no approver: the settings name none`);
  const facts = factsOf(plan);
  const isOfPlan = Object.entries(facts).every(([name, value]) => approval[name as keyof Approval] === value);
  if (!isOfPlan) return no(`${subject} is for another plan`);
  const signer = await signerOf(text, signature, approvers, new Date(run.at));
  if (signer === undefined)
    return no(`${subject} has no good signature of an approver in ${escapeInvisible(approvers)}`);
  const name = escapeInvisible(signer.name);
  if ([approval.by.user, signer.name].includes(run.user))
    return no(`${escapeInvisible(run.user)} can't approve a plan that ${escapeInvisible(run.user)} runs`);
  const { at, until } = approval;
  // An unreadable time counts as past.
  if (!(run.at < Date.parse(until))) return no(`the approval by ${name} ended ${localTime(until)}`);
  return { counts: true, name, key: signer.key, at, until };
}

export function needsApproval(
  { above }: ApprovalPolicy,
  callable: Readonly<Record<string, number>>,
): boolean {
  return Object.entries(above).some(
    ([operation, most]) => (operation === '' ? callsIn(callable) : (callable[operation] ?? 0)) > most,
  );
}

function callsIn(callable: Readonly<Record<string, number>>): number {
  return Object.values(callable).reduce((sum, calls) => sum + calls, 0);
}

export interface RunToApprove extends ApprovedRun {
  /** The manifest in messages. */
  readonly manifest: string;
  /** The command that writes the plan of a run without a plan. */
  readonly planCommand: string;
  /** Where to look for a plan; undefined: the user names the file. */
  readonly planFile?: string | undefined;
  /** Undefined for a run without a plan. With `file`, the plan can still be approved there. */
  readonly plan: (PlanContent & { readonly file?: string }) | undefined;
  /** Calls by operation. */
  readonly callable: Readonly<Record<string, number>>;
}

/**
 * @returns the approvals that count, even if none are needed
 * @throws a usage error `APPROVAL_MISSING` with the reason and the missing command
 */
export async function requireApprovals(
  policy: ApprovalPolicy,
  { plan, ...run }: RunToApprove,
): Promise<readonly CountedApproval[]> {
  const judged = plan === undefined ? [] : await judgeApprovals(plan, policy, run);
  const valid = validAmong(judged);
  if (valid.length >= policy.needed || !needsApproval(policy, run.callable)) return valid;
  throw usageError(
    'APPROVAL_MISSING',
    `${escapeInvisible(run.manifest)}: ${missingText(policy, counted(callsIn(run.callable), 'call'), judged)} ${nextText(await approverNames(policy), policy, valid, plan, run)}`,
  );
}

/** @param calls `3 calls` */
function missingText({ needed }: ApprovalPolicy, calls: string, judged: readonly JudgedApproval[]): string {
  const names = validAmong(judged).map(({ name }) => name);
  const reasons = whyOthersDoNot(judged);
  const by = names.length === 0 ? '' : ` (${names.join(', ')})`;
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  return `${calls}, ${names.length} of ${counted(needed, 'approval')}${by}${why}.`;
}

/** `ana and bea`, `1 of ana, bea` */
function missingPeople(
  names: readonly string[],
  { needed }: Pick<ApprovalPolicy, 'needed'>,
  valid: readonly CountedApproval[],
): string {
  const given = new Set(valid.map(({ name }) => name));
  const others = names.filter((name) => !given.has(name));
  const missing = needed - valid.length;
  return others.length <= missing ? others.join(' and ') : `${missing} of ${others.join(', ')}`;
}

/** `1 more approval, by 1 of bea, cem`; undefined if there are enough. */
export async function stillMissing(
  policy: ApprovalPolicy,
  valid: readonly CountedApproval[],
): Promise<string | undefined> {
  const missing = policy.needed - valid.length;
  if (missing <= 0) return undefined;
  return `${counted(missing, 'more approval')}, by ${missingPeople(await approverNames(policy), policy, valid)}`;
}

function nextText(
  names: readonly string[],
  policy: ApprovalPolicy,
  valid: readonly CountedApproval[],
  plan: RunToApprove['plan'],
  { planCommand, planFile }: Pick<RunToApprove, 'planCommand' | 'planFile'>,
): string {
  if (names.length < policy.needed)
    return `Next: name ${counted(policy.needed, 'approver')} in the file that "approvers" in config.json names, in OpenSSH's form allowed_signers.`;
  const file = shellWord(plan?.file ?? planFile ?? `NAME${planSuffix}`);
  const approve = `have ${missingPeople(names, policy, valid)} type "cqbatch approve ${file}"`;
  const then = planFile === undefined ? 'then run it' : 'then let the manifest be run again';
  if (plan?.file !== undefined) return `Next: ${approve}, ${then}.`;
  return `Next: type "${planCommand} --out ${file}", ${approve}, ${then}.`;
}
