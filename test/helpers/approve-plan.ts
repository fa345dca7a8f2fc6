import type { Actor } from '../../src/actor.ts';
import { approvePlan } from '../../src/run/plan/approvals.ts';
import { readApprovedPlan, writeApprovals } from '../../src/run/plan/approved-plan.ts';
import type { SigningKey } from '../../src/signature/key-file.ts';

/** Signs the plan in a file, as `cqbatch approve` does on the machine of another person. */
export async function approveFile(file: string, key: SigningKey, by: Actor): Promise<void> {
  const plan = await readApprovedPlan(file);
  await writeApprovals(plan, await approvePlan(plan, key, { validMs: 3_600_000, by }));
}
