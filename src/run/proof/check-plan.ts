import type { PublicKey } from '../../signature/public-key.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { judgeApprovals, validAmong, whyOthersDoNot } from '../plan/approvals.ts';
import type { PlanDocument } from '../plan/approved-plan.ts';
import { approvedPlanFile, readKeptPlan } from '../plan/kept-plan.ts';
import type { RunRecord } from '../record/record.ts';
import { wrong } from './finding.ts';

/**
 * Checks that a run is that of its approved plan, and that its approvals counted when it was planned.
 *
 * @param keys of approvers
 * @returns what could not be checked: sentences
 */
export async function checkPlan(
  folder: string,
  record: RunRecord,
  keys: readonly PublicKey[],
): Promise<readonly string[]> {
  const plan = await readKeptPlan(folder, record, wrong);
  if (plan === undefined) return [];
  return (record.approval?.signers ?? []).flatMap(({ name, key }) => {
    const approver = keys.find(({ fingerprint }) => fingerprint === key);
    if (approver === undefined)
      return [
        `The approval by ${escapeInvisible(name)} was not checked: pass the public key ${escapeInvisible(key)} with --key.`,
      ];
    requireApproval(plan, record, name, approver);
    return [];
  });
}

function requireApproval(plan: PlanDocument, { states }: RunRecord, name: string, key: PublicKey): void {
  const [planned] = states;
  const run = { user: planned?.by?.user ?? '', at: Date.parse(planned?.at ?? '') };
  const judged = judgeApprovals(plan, new Map([[name, key]]), run);
  if (validAmong(judged).length > 0) return;
  throw wrong(
    approvedPlanFile,
    `the approval by ${escapeInvisible(name)} does not count (${whyOthersDoNot(judged).join('; ')})`,
  );
}
