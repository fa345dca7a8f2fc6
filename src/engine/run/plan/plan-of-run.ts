import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../base/disk/files.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { shellWord } from '../../../base/text/shell-word.ts';
import type { RowsHead } from '../../rows/head.ts';
import { differingOptions } from '../record/differing-options.ts';
import { plannedAt, type RunRecord } from '../record/record.ts';
import { openRunRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import { approvalSuffix } from './approval-files.ts';
import { type ApprovalPolicy, type ApprovedRun, needsApproval, requireApprovals } from './approvals.ts';
import type { PlanContent } from './plan-file.ts';
import { planSuffix, type ReadPlan } from './plan-file.ts';
import { refuseUnlessOver, retriesAfter, retriesAmong, undosOf } from './retries.ts';

/** Copies approvals into the folder of a run: `1.approval`, … */
export async function keepApprovals(folder: string, approvals: readonly string[]): Promise<void> {
  for (const [index, content] of approvals.entries())
    await writeFileAtomically(join(folder, `${index + 1}${approvalSuffix}`), content);
}

/** Reads the plan in the folder of a run. */
export async function readKeptPlan(
  store: Pick<RunStore, 'folder'>,
  record: RunRecord,
): Promise<PlanContent | undefined> {
  if (record.approval === undefined) return undefined;
  const folder = store.folder(record.id);
  const { head } = await openRunRows(store, record);
  const names = (await onDisk(folder, () => readdir(folder))).filter((name) => name.endsWith(approvalSuffix));
  const approvals = await Promise.all(
    names.map((name) => onDisk(folder, () => readFile(join(folder, name), 'utf8'))),
  );
  return { sha256: record.rows.sha256, head, options: record.options, approvals };
}

/** Approvals must have counted for this user at this time. */
export function plannedBy({ states: [planned] }: RunRecord): ApprovedRun {
  return { user: planned?.by?.user ?? '', at: Date.parse(planned?.at ?? '') };
}

/**
 * Checks approvals as of the planning, for a run that was submitted under other settings.
 *
 * @throws a usage error `APPROVAL_MISSING`, or `PLAN_CHANGED` when the run is not the run of its plan
 */
export async function requireKeptApprovals(
  store: RunStore,
  record: RunRecord,
  policy: ApprovalPolicy,
): Promise<void> {
  const { manifest, plan: counts } = record;
  const { operations, callable } = counts;
  // The calls of each operation are not recorded: each may have all of them.
  if (!operations.some((name) => needsApproval(policy, { [name]: callable }))) return;
  const plan = await readKeptPlan(store, record);
  await requireApprovals(
    { ...policy, above: { '': 0 } },
    {
      manifest: manifest.name,
      planCommand: `cqbatch plan ${shellWord(manifest.name)}`,
      plan,
      callable: { '': callable },
      ...plannedBy(record),
    },
  );
}

/** The first option that differs from the plan. Users may change rate and priority of a run in progress. */
export function otherOption(head: RowsHead, { options, rates, priorities }: RunRecord): string | undefined {
  const changeable = new Set([
    // A plan may be run with a more careful canary.
    'canary',
    ...(rates === undefined ? [] : ['rate']),
    ...(priorities === undefined ? [] : ['priority']),
  ]);
  return differingOptions(head.options, options).find(({ name }) => !changeable.has(name))?.name;
}

/** @throws a usage error `PLAN_DIFFERS` when the run is no longer the run of its approved plan */
export async function refuseOtherPlan(store: RunStore, record: RunRecord): Promise<void> {
  const { approval, rows, id } = record;
  if (approval?.signers === undefined) return;
  const { head, path } = await openRunRows(store, record);
  const other = rows.sha256 === approval.sha256 ? otherOption(head, record) : 'plan';
  if (other === undefined) return;
  throw usageError(
    'PLAN_DIFFERS',
    `Run ${id} has another "${other}" than its approved plan (${path}), so nothing is sent: leave that option out, or make the plan again and have it approved.`,
  );
}

/** @throws a usage error when the run of the plan's rows has been retried or undone since */
export async function refuseOutdated(store: RunStore, { file, head }: ReadPlan): Promise<void> {
  const { as, of } = head.derived ?? {};
  const before = as && (await store.list()).find(({ id }) => id === of);
  if (as === undefined || before === undefined) return;
  const runs = await store.list();
  const later = [...retriesAfter(retriesAmong(runs, before), before), ...undosOf(runs, before)];
  refuseUnlessOver(as, before, later);
  const since = later.find((run) => plannedAt(run) > head.made_at);
  if (since === undefined) return;
  throw usageError(
    'PLAN_OUTDATED',
    `Run ${since.id} has called rows of run ${before.id} since ${escapeInvisible(file)} was made: make the plan again with "cqbatch ${as} ${before.id} --out NAME${planSuffix}".`,
  );
}
