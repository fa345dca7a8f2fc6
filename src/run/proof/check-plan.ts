import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifThere, readSmallFile } from '../../disk/files.ts';
import type { PublicKey } from '../../signature/public-key.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { judgeApprovals } from '../plan/approvals.ts';
import { type PlanDocument, parsePlan, planFileText } from '../plan/approved-plan.ts';
import type { RunOptions, RunRecord } from '../record/record.ts';
import { approvedPlanFile } from '../record/run-policy.ts';
import { wrong } from './finding.ts';

/** The options that decide which calls are made; how fast they are made may change while the run is in progress. */
const decisive = [
  ...['baseUrl', 'rateGroup', 'operation', 'where', 'default', 'clearToken', 'map', 'onConflict'],
  ...['encoding', 'skipLines', 'rowsAt', 'sheet', 'trim'],
] as const satisfies readonly (keyof RunOptions)[];

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
  const { approval } = record;
  const text = await ifThere(readSmallFile(join(folder, approvedPlanFile)));
  if (approval === undefined || text === undefined) {
    if (approval === undefined && text === undefined) return [];
    throw wrong(approvedPlanFile, approval ? 'is missing' : 'is there, but run.json names no plan');
  }
  const plan = parsePlan(text, approvedPlanFile);
  if (planFileText(plan) !== text || plan.sha256 !== approval.sha256)
    throw wrong(approvedPlanFile, 'is not the plan that run.json names');
  requireSameRun(plan, record);
  return (approval.signers ?? []).flatMap(({ name, key }) => {
    const approver = keys.find(({ fingerprint }) => fingerprint === key);
    if (approver === undefined)
      return [
        `The approval by ${escapeInvisible(name)} was not checked: pass the public key ${escapeInvisible(key)} with --key.`,
      ];
    requireApproval(plan, record, name, approver);
    return [];
  });
}

function requireSameRun({ manifest, options, counts }: PlanDocument, record: RunRecord): void {
  if (manifest.sha256 !== record.manifest.sha256)
    throw wrong(record.manifest.file, `is not the manifest that ${approvedPlanFile} has approved`);
  const other = decisive.find((name) => !isDeepStrictEqual(options[name], record.options[name]));
  if (other !== undefined) throw wrong('run.json', `has another "${other}" than ${approvedPlanFile}`);
  if (counts.rows !== record.plan.rows || counts.callable !== record.plan.callable)
    throw wrong('run.json', `has other numbers of rows than ${approvedPlanFile}`);
}

function requireApproval(plan: PlanDocument, { states }: RunRecord, name: string, key: PublicKey): void {
  const [planned] = states;
  const run = { user: planned?.by?.user ?? '', at: Date.parse(planned?.at ?? '') };
  const judged = judgeApprovals(plan, new Map([[name, key]]), run);
  if (judged.some(({ counts }) => counts)) return;
  const whys = judged.flatMap((each) => (each.counts ? [] : [each.why]));
  throw wrong(
    approvedPlanFile,
    `the approval by ${escapeInvisible(name)} does not count (${whys.join('; ')})`,
  );
}
