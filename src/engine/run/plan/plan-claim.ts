import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, ifThere, makeFolder } from '../../../base/disk/files.ts';
import { type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { type RunRecord, runKey } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';

/** The file is never removed. */
function claimFile({ stateDir }: Pick<RunStore, 'stateDir'>, sha256: string): string {
  return join(stateDir, 'plans', sha256);
}

/**
 * Approvals hold for one run of the state folder, even if plan and run are renamed.
 *
 * @throws a usage error `PLAN_USED` when another run has the plan
 */
export async function claimPlan(store: Pick<RunStore, 'stateDir'>, record: RunRecord): Promise<void> {
  const { approval } = record;
  if (approval?.signers === undefined) return;
  const key = runKey(record);
  const path = claimFile(store, approval.sha256);
  await makeFolder(join(store.stateDir, 'plans'));
  if (await onDisk(path, () => createFile(path, key))) return;
  if ((await onDisk(path, () => readFile(path, 'utf8'))) !== key) throw usedPlan(approval.file);
}

/** @throws a usage error `PLAN_USED`, even for a run that has not started */
export async function refuseUsedPlan(
  store: RunStore,
  { sha256, file }: { readonly sha256: string; readonly file: string },
): Promise<void> {
  const path = claimFile(store, sha256);
  const isClaimed = (await onDisk(path, () => ifThere(readFile(path)))) !== undefined;
  if (isClaimed || (await store.list(() => {})).some(({ approval }) => isOf(approval, sha256)))
    throw usedPlan(file);
}

function isOf(approval: RunRecord['approval'], sha256: string): boolean {
  return approval?.sha256 === sha256 && approval.signers !== undefined;
}

export function usedPlan(file: string): CqbatchError {
  return usageError(
    'PLAN_USED',
    `${file} was carried out by another run, and approvals hold for one run: make the plan again and have it approved.`,
  );
}
