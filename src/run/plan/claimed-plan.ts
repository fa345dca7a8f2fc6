import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, ifThere, makeFolder } from '../../disk/files.ts';
import { usageError } from '../../errors.ts';
import { onDisk } from '../../system-error.ts';
import { escapeInvisible } from '../../text/printable.ts';
import type { RunStore } from '../record/store.ts';
import type { ApprovedPlan } from './approved-plan.ts';

/**
 * Claims an approved plan for one run of the state folder: approvals hold for one run, whatever the file is called.
 *
 * @throws a usage error `PLAN_USED` when another run has it
 */
export async function claimPlan(
  store: RunStore,
  { sha256, file }: ApprovedPlan,
  runId: string,
): Promise<void> {
  const folder = join(store.stateDir, 'plans');
  const path = join(folder, sha256);
  await makeFolder(folder);
  for (;;) {
    if (await onDisk(path, () => createFile(path, runId))) return;
    const other = await onDisk(path, () => ifThere(readFile(path, 'utf8')));
    if (other === undefined) continue;
    // A run of the same id was never saved: its process died.
    const isOwn = other === runId;
    // Pruning keeps a run until its approvals have ended.
    if (!isOwn && (await store.look(other)) !== undefined) {
      throw usageError(
        'PLAN_USED',
        `${escapeInvisible(file)} was carried out by run ${other}, and approvals hold for one run: make the plan again and have it approved.`,
      );
    }
    await rm(path, { force: true });
  }
}
