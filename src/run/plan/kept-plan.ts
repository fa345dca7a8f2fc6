import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifThere, readSmallFile } from '../../disk/files.ts';
import type { RunOptions, RunRecord } from '../record/record.ts';
import { type PlanDocument, parsePlan, planFileText } from './approved-plan.ts';

/** The signed-off plan in the folder of its run. */
export const approvedPlanFile = 'approved.cqplan';

/** The options that decide which calls are made; how fast they are made may change while the run is in progress. */
const decisive = [
  ...['baseUrl', 'rateGroup', 'operation', 'where', 'default', 'clearToken', 'map', 'onConflict'],
  ...['encoding', 'skipLines', 'rowsAt', 'sheet', 'hidden', 'trim', 'trustIds'],
] as const satisfies readonly (keyof RunOptions)[];

/**
 * The signed-off plan in the folder of a run. The run must be that of the plan, whatever was edited in the folder.
 *
 * @param wrong the error for a file and what is wrong with it, a clause
 * @returns undefined for a run without a plan
 */
export async function readKeptPlan(
  folder: string,
  record: RunRecord,
  wrong: (file: string, problem: string) => Error,
): Promise<PlanDocument | undefined> {
  const { approval } = record;
  const text = await ifThere(readSmallFile(join(folder, approvedPlanFile)));
  if (approval === undefined || text === undefined) {
    // Earlier versions kept no plan, and knew no signatures.
    if (approval?.signers === undefined && text === undefined) return undefined;
    throw wrong(approvedPlanFile, approval ? 'is missing' : 'is there, but run.json names no plan');
  }
  const plan = parsePlan(text, approvedPlanFile);
  if (planFileText(plan) !== text || plan.sha256 !== approval.sha256)
    throw wrong(approvedPlanFile, 'is not the plan that run.json names');
  if (plan.manifest.sha256 !== record.manifest.sha256)
    throw wrong(record.manifest.file, `is not the manifest that ${approvedPlanFile} has approved`);
  const other = decisive.find((name) => !isDeepStrictEqual(plan.options[name], record.options[name]));
  if (other !== undefined) throw wrong('run.json', `has another "${other}" than ${approvedPlanFile}`);
  const { counts } = plan;
  if (counts.rows !== record.plan.rows || counts.callable !== record.plan.callable)
    throw wrong('run.json', `has other numbers of rows than ${approvedPlanFile}`);
  return plan;
}
