import { join } from 'node:path';
import type { Actor } from '../../src/domain/actor.ts';
import { writeApproval } from '../../src/engine/run/plan/approval-files.ts';
import { approvePlan } from '../../src/engine/run/plan/approvals.ts';
import { readPlanFile } from '../../src/engine/run/plan/plan-file.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Signs the plan in a file, as `cqbatch approve` does on the machine of another person.
 *
 * @param key path of a private key
 */
export async function approveFile(
  file: string,
  key: string,
  by: Pick<Actor, 'user' | 'host'>,
): Promise<void> {
  const stateDir = await temporaryFolder();
  const plan = await readPlanFile({ stateDir }, file, join(stateDir, 'rows.jsonl'));
  await writeApproval(plan, by.user, await approvePlan(plan, key, { validMs: 3_600_000, by }));
}
