import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { shellWord } from '../../../base/text/shell-word.ts';
import { writeApproval } from '../../../engine/run/plan/approval-files.ts';
import { approverHere } from '../../../engine/run/plan/approval-text.ts';
import { approvePlan, judgeApprovals, stillMissing, validAmong } from '../../../engine/run/plan/approvals.ts';
import { type ApprovedPlan, planSuffix } from '../../../engine/run/plan/plan-file.ts';
import { isReady, verdictText } from '../../../engine/run/plan/readiness.ts';
import { parseLongDuration } from '../../../settings/parsers.ts';
import { approvalPolicy } from '../../../settings/run-options.ts';
import type { Flags } from '../../config.ts';
import { type CommandContext, openCommandContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { planText } from '../../render/plan.ts';
import { fingerprint } from '../../render/words.ts';
import { parsed } from '../options.ts';
import { runByThisUser, withNamedPlan } from './approval.ts';
import { lookAtPlan, signedOffText } from './plan.ts';
import { isConfirmed } from './planned-run.ts';

const usualValidity = '24h';

export async function approve(file: string, flags: Flags): Promise<ExitCode> {
  const opened = await openCommandContext(flags);
  requirePerson(opened, file);
  const validMs = parsed('--valid', flags.valid ?? usualValidity, parseLongDuration);
  const key = flags.key ?? join(homedir(), '.ssh', 'id_ed25519');
  return withNamedPlan(opened, file, (context) => approveNamed(context, key, validMs));
}

async function approveNamed(context: CommandContext, key: string, validMs: number): Promise<ExitCode> {
  const { terminal, approved, settings } = context;
  if (approved === undefined) throw new TypeError('there is no plan');
  const planned = await lookAtPlan(context, approved);
  const policy = approvalPolicy(settings);
  terminal.say(`${planText(planned)}\n\n${verdictText(planned)}\n${await signedOffText(approved, policy)}`);
  if (!isReady(planned)) return exitCodes.usage;
  const { callable } = planned.scan;
  const what = `${counted(callable, 'request')} of plan ${fingerprint(approved.sha256)}`;
  const question = `Approve ${what} with the key ${escapeInvisible(key)}?`;
  if (!(await isConfirmed(context, question, callable))) {
    terminal.result({ state: 'declined' }, 'Nothing was signed.');
    return exitCodes.usage;
  }
  const now = Date.now();
  const content = await approvePlan(approved, key, { validMs, now });
  const { user } = approverHere();
  const { approvalFile, approvals } = await writeApproval(approved, user, content);
  await sayResult(context, { ...approved, approvals }, approvalFile, new Date(now + validMs).toISOString());
  return exitCodes.success;
}

function requirePerson({ terminal }: CommandContext, file: string): void {
  if (!file.endsWith(planSuffix)) {
    throw usageError(
      'PLAN_UNREADABLE',
      `${escapeInvisible(file)} is not a plan: type "cqbatch plan ${shellWord(escapeInvisible(file))} --out NAME${planSuffix}", then approve that.`,
    );
  }
  if (!terminal.canAsk) {
    throw usageError(
      'CONSENT_MISSING',
      "Can't ask for confirmation, because standard input is not a terminal: a person must approve a plan.",
    );
  }
}

async function sayResult(
  { terminal, settings }: CommandContext,
  plan: ApprovedPlan,
  approvalFile: string,
  until: string,
): Promise<void> {
  const policy = approvalPolicy(settings);
  const { approvers, needed } = policy;
  // Another person will run the plan: only the approver is known here.
  const judged =
    approvers === undefined ? [] : await judgeApprovals(plan, policy, { ...runByThisUser(), user: '' });
  const file = escapeInvisible(plan.file);
  const valid = validAmong(judged);
  const many =
    approvers === undefined ? '' : ` ${file} has ${valid.length} of ${counted(needed, 'approval')}.`;
  for (const each of judged) if (!each.counts) terminal.warn(`warning: not counted: ${each.why}.`);
  terminal.result(
    { plan_file: plan.file, plan_sha256: plan.sha256, approval_file: approvalFile, until },
    `Wrote ${escapeInvisible(approvalFile)}, which holds until ${localTime(until)}.${many}`,
  );
  const missing = approvers === undefined ? undefined : await stillMissing(policy, valid);
  terminal.say(
    missing === undefined
      ? `Nothing was sent. Another person runs it: cqbatch run ${shellWord(file)}`
      : `Nothing was sent. Missing: ${missing}: cqbatch approve ${shellWord(file)}`,
  );
}
