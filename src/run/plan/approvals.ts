import { basename } from 'node:path';
import { z } from 'zod';
import { actorSchema, thisActor } from '../../actor.ts';
import { usageError } from '../../errors.ts';
import { type Envelope, openEnvelope, signStatement } from '../../signature/envelope.ts';
import type { SigningKey } from '../../signature/key-file.ts';
import type { PublicKey } from '../../signature/public-key.ts';
import { localTime } from '../../text/local-time.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { counted } from '../../text/quantities.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type ApprovedPlan, type PlanDocument, planSuffix } from './approved-plan.ts';

/** The people that may approve plans, and the runs that need it. */
export interface ApprovalPolicy {
  /** Keys by the names of their owners. */
  readonly approvers: ReadonlyMap<string, PublicKey>;
  /** How many approvals a run needs. */
  readonly needed: number;
  /** Runs with more calls than this need them, by operation, and by `''` for all operations together. */
  readonly above: Readonly<Record<string, number>>;
}

const predicateType = 'urn:callquality-batch:approval:1';

/** What an approver signs about a plan, besides its digest. */
const approvalSchema = z.strictObject({
  base_url: z.string(),
  /** Calls. */
  rows: z.number(),
  manifest_sha256: z.string(),
  by: actorSchema,
  at: z.string(),
  /** The run must begin before. */
  until: z.string(),
});

type Approval = Readonly<z.infer<typeof approvalSchema>>;

/** An approval that counts. */
export interface CountedApproval extends Pick<Approval, 'at' | 'until'> {
  /** Of the approver. */
  readonly name: string;
  /** Fingerprint of the key. */
  readonly key: string;
}

/** An approval of a plan, judged. */
type JudgedApproval =
  | ({ readonly counts: true } & CountedApproval)
  /** Why it does not count: a clause. */
  | { readonly counts: false; readonly why: string };

/** Signs a plan. An earlier approval with the same key is replaced. @returns all approvals of the plan */
export async function approvePlan(
  plan: ApprovedPlan,
  key: SigningKey,
  { validMs, now = Date.now(), by = thisActor() }: { validMs: number; now?: number; by?: Approval['by'] },
): Promise<readonly Envelope[]> {
  const others = plan.approvals.filter(
    ({ signatures }) => !signatures.some(({ keyid }) => keyid === key.publicKey.fingerprint),
  );
  const predicate: Approval = {
    ...factsOf(plan),
    by,
    at: new Date(now).toISOString(),
    until: new Date(now + validMs).toISOString(),
  };
  const subject = [{ name: basename(plan.file), digest: { sha256: plan.sha256 } }];
  return [...others, await signStatement({ subject, predicateType, predicate }, key)];
}

function factsOf({ options, counts, manifest }: PlanDocument) {
  return { base_url: options.baseUrl, rows: counts.callable, manifest_sha256: manifest.sha256 };
}

/** The run of a plan. */
export interface ApprovedRun {
  /** Account of the user who runs the plan. */
  readonly user: string;
  /** When the run begins, milliseconds since 1970. */
  readonly at: number;
}

/** The approvals that count. */
export function validAmong(judged: readonly JudgedApproval[]): readonly CountedApproval[] {
  return judged.flatMap((each) => (each.counts ? [each] : []));
}

/** Why the others do not count: clauses. */
export function whyOthersDoNot(judged: readonly JudgedApproval[]): readonly string[] {
  return judged.flatMap((each) => (each.counts ? [] : [each.why]));
}

/** Judges each approval of a plan. */
export function judgeApprovals(
  plan: PlanDocument,
  approvers: ApprovalPolicy['approvers'],
  run: ApprovedRun,
): readonly JudgedApproval[] {
  const seen = new Set<string>();
  return plan.approvals.map((envelope) => {
    const judged = judge(envelope, plan, approvers, run);
    if (!judged.counts) return judged;
    if (seen.has(judged.key)) return { counts: false, why: `${judged.name} has approved it twice` };
    seen.add(judged.key);
    return judged;
  });
}

function judge(
  envelope: Envelope,
  plan: PlanDocument,
  approvers: ApprovalPolicy['approvers'],
  run: ApprovedRun,
): JudgedApproval {
  const no = (why: string): JudgedApproval => ({ counts: false, why });
  const keyid = escapeInvisible(envelope.signatures[0]?.keyid ?? '');
  let said: Said;
  try {
    said = readApproval(envelope, [...approvers.values()]);
  } catch (error) {
    return no((error as Error).message);
  }
  const { approval, signer, subject } = said;
  if (signer === undefined) return no(`the key ${keyid} is not one of an approver`);
  const name = [...approvers].find(([, { fingerprint }]) => fingerprint === signer.fingerprint)?.[0] ?? keyid;
  const { base_url, rows, manifest_sha256 } = factsOf(plan);
  if (
    subject !== plan.sha256 ||
    approval.base_url !== base_url ||
    approval.rows !== rows ||
    approval.manifest_sha256 !== manifest_sha256
  )
    return no(`${name} has approved another plan`);
  if (approval.by.user === run.user || name === run.user)
    return no(`${name} runs the plan, and an approval must come from another person`);
  const { at, until } = approval;
  // A time that can't be read is over.
  if (!(run.at < Date.parse(until))) return no(`the approval by ${name} ended ${localTime(until)}`);
  return { counts: true, name, key: signer.fingerprint, at, until };
}

interface Said {
  readonly approval: Approval;
  readonly signer: PublicKey | undefined;
  /** SHA-256 of the approved plan. */
  readonly subject: string | undefined;
}

/** @throws a RangeError that says what is wrong with the approval: a clause */
function readApproval(envelope: Envelope, keys: readonly PublicKey[]): Said {
  const { statement, signers } = openEnvelope(envelope, keys);
  const { success, data } = approvalSchema.safeParse(statement.predicate);
  if (statement.predicateType !== predicateType || !success)
    throw new RangeError('a signed statement is not an approval of this version of cqbatch');
  const [subject, ...others] = statement.subject;
  return {
    approval: data,
    signer: signers[0],
    subject: others.length > 0 ? undefined : subject?.digest.sha256,
  };
}

/** Whether a run with these calls, by operation, needs approvals. */
export function needsApproval(
  { above }: ApprovalPolicy,
  callable: Readonly<Record<string, number>>,
): boolean {
  return Object.entries(above).some(
    ([operation, most]) => (operation === '' ? callsIn(callable) : (callable[operation] ?? 0)) > most,
  );
}

/** Calls of all operations. */
function callsIn(callable: Readonly<Record<string, number>>): number {
  return Object.values(callable).reduce((sum, calls) => sum + calls, 0);
}

/** What is to be run. */
export interface RunToApprove extends ApprovedRun {
  /** The manifest, or what it was made of, in messages. */
  readonly manifest: string;
  /** How to write its plan, for a run without one. */
  readonly planCommand: string;
  /** Where that plan is looked for; undefined: the user names it. */
  readonly planFile?: string | undefined;
  /** Absent for a run without a signed-off plan; its file is where it can still be approved. */
  readonly plan: (PlanDocument & { readonly file?: string }) | undefined;
  /** Calls by operation. */
  readonly callable: Readonly<Record<string, number>>;
}

/**
 * The approvals of a run that the policy wants approved.
 *
 * @returns those that count, also where none are needed
 * @throws a usage error `APPROVAL_MISSING` with the reason and the missing command
 */
export function requireApprovals(
  policy: ApprovalPolicy,
  { plan, ...run }: RunToApprove,
): readonly CountedApproval[] {
  const judged = plan === undefined ? [] : judgeApprovals(plan, policy.approvers, run);
  const valid = validAmong(judged);
  if (valid.length >= policy.needed || !needsApproval(policy, run.callable)) return valid;
  throw usageError(
    'APPROVAL_MISSING',
    `${escapeInvisible(run.manifest)}: ${missingText(policy, counted(callsIn(run.callable), 'call', ['needs', 'need']), judged)} ${nextText(policy, plan, run)}`,
  );
}

/** How many approvals are missing, and why some do not count. @param calls `3 calls need` */
function missingText({ needed }: ApprovalPolicy, calls: string, judged: readonly JudgedApproval[]): string {
  const names = validAmong(judged).map(({ name }) => name);
  const others = whyOthersDoNot(judged);
  const have = names.length === 0 ? 'none counts' : `only ${names.length} counts (${names.join(', ')})`;
  const why =
    others.length === 0
      ? ''
      : ` ${others.map((text) => `${text[0]?.toUpperCase()}${text.slice(1)}.`).join(' ')}`;
  return `${calls} ${counted(needed, 'approval')}, and ${judged.length === 0 ? 'there is none' : have}.${why}`;
}

function nextText(
  { approvers, needed }: ApprovalPolicy,
  plan: RunToApprove['plan'],
  { planCommand, planFile }: Pick<RunToApprove, 'planCommand' | 'planFile'>,
): string {
  const names = [...approvers.keys()];
  if (names.length < needed)
    return `Next: name ${counted(needed, 'approver')} under "approvers" in config.json.`;
  const file = shellWord(plan?.file ?? planFile ?? `NAME${planSuffix}`);
  const people = names.length === needed ? names.join(' and ') : `${needed} of ${names.join(', ')}`;
  const approve = `have ${people} type "cqbatch approve ${file}"`;
  const then = planFile === undefined ? 'then run it' : 'then let the manifest be run again';
  if (plan?.file !== undefined) return `Next: ${approve}, ${then}.`;
  return `Next: type "${planCommand} --out ${file}", ${approve}, ${then}.`;
}
