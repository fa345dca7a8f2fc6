import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../../../errors.ts';
import {
  type ApprovalPolicy,
  type ApprovedPlan,
  approvalPolicy,
  approvePlan,
  isReady,
  judgeApprovals,
  parseLongDuration,
  planSuffix,
  readSigningKey,
  type SigningKey,
  validAmong,
  verdictText,
  writeApprovals,
} from '../../../index.ts';
import { localTime } from '../../../text/local-time.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { counted } from '../../../text/quantities.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { environment, type Flags } from '../../config/load.ts';
import { openWorkplace, type Workplace } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { planText } from '../../render/plan.ts';
import { fingerprint } from '../../render/words.ts';
import { parsed } from '../options.ts';
import { approvedSource, runHere } from './approval.ts';
import { lookAtPlan, signedOffText } from './plan.ts';
import { isConfirmed } from './planned-run.ts';

/** How long an approval holds, as a user would write it. */
const usualValidity = '24h';

/** `cqbatch approve`: shows a plan, asks, and signs it. */
export async function approve(file: string, flags: Flags): Promise<ExitCode> {
  const opened = await openWorkplace(flags);
  const { terminal } = opened;
  requirePerson(opened, file);
  const validMs = parsed('--valid', flags.valid ?? usualValidity, parseLongDuration);
  const key = await readSigningKey(
    flags.key ?? join(homedir(), '.ssh', 'id_ed25519'),
    environment['SSH_AUTH_SOCK'],
  );
  const { workplace, source } = await approvedSource(opened, file);
  const { approved, settings } = workplace;
  if (approved === undefined) throw new TypeError(`${file} is not a plan`);
  const planned = await lookAtPlan(workplace, source);
  if (typeof planned === 'number') return planned;
  const policy = approvalPolicy(settings);
  terminal.say(`${planText(planned)}\n\n${verdictText(planned)}\n${signedOffText(approved, policy)}`);
  if (!isReady(planned)) return exitCodes.usage;
  const { callable } = planned.scan;
  const what = `${counted(callable, 'request')} of plan ${fingerprint(approved.sha256)}`;
  const question = `Approve ${what} with the key ${key.publicKey.fingerprint}?`;
  if (!(await isConfirmed(workplace, question, callable))) {
    terminal.result({ state: 'declined' }, 'Nothing was signed.');
    return exitCodes.usage;
  }
  const now = Date.now();
  const signed = await writeApprovals(approved, await approvePlan(approved, key, { validMs, now }));
  sayResult(workplace, signed, key, policy, new Date(now + validMs).toISOString());
  return exitCodes.success;
}

/** @throws a usage error for anything but a plan, and where no person can be asked */
function requirePerson({ terminal }: Workplace, file: string): void {
  if (!file.endsWith(planSuffix)) {
    throw usageError(
      'PLAN_UNREADABLE',
      `${escapeInvisible(file)} is not a plan: type "cqbatch plan ${shellWord(escapeInvisible(file))} --out NAME${planSuffix}", then approve that.`,
    );
  }
  if (!terminal.canAsk) {
    throw usageError(
      'CONSENT_MISSING',
      "Can't ask for confirmation, because this is not a terminal: a person must approve a plan.",
    );
  }
}

function sayResult(
  { terminal }: Workplace,
  plan: ApprovedPlan,
  { publicKey }: SigningKey,
  { approvers, needed }: ApprovalPolicy,
  until: string,
): void {
  // The runner is another person: here only the approver is known.
  const counting = validAmong(judgeApprovals(plan, approvers, { ...runHere(), user: '' }));
  const isKnown = [...approvers.values()].some(({ text }) => text === publicKey.text);
  if (approvers.size > 0 && !isKnown)
    terminal.warn(
      `warning: the settings here name no approver with this key: "approvers": {"NAME": "${publicKey.text}"}`,
    );
  const file = escapeInvisible(plan.file);
  const next = `cqbatch run ${shellWord(file)}`;
  const many = approvers.size === 0 ? '' : ` It has ${counting.length} of ${counted(needed, 'approval')}.`;
  terminal.result(
    { plan_file: plan.file, plan_sha256: plan.sha256, key: publicKey.fingerprint, until },
    `Approved ${file} until ${localTime(until)}.${many}`,
  );
  terminal.say(`Nothing was sent. Another person runs it: ${next}`);
}
