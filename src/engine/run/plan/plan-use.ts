import { join } from 'node:path';
import { z } from 'zod';
import { createFile, makeFolder } from '../../../base/disk/files.ts';
import { readJsonFile } from '../../../base/disk/json-file.ts';
import { type CqbatchError, fatalError, usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { stringifyJson } from '../../../base/text/json.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { plannedAt, type RunRecord, runKey } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { planSuffix } from './file/plan-file.ts';
import type { ReadPlan } from './file/read-plan-file.ts';
import { refuseUnlessOver, retriesAfter, retriesAmong, undosOf } from './retries.ts';

/** The run that has a plan: `key` distinguishes it from a later run with the same id. */
const claimSchema = z.object({ run: z.string(), key: z.string() });

/** Named by the SHA-256 of the plan's rows, so that neither another name nor another compression makes another plan. Never removed. */
function claimPath({ stateDir }: Pick<RunStore, 'stateDir'>, sha256: string): string {
  return join(stateDir, 'plans', sha256);
}

function readClaim(path: string): Promise<z.infer<typeof claimSchema> | undefined> {
  return readJsonFile(path, claimSchema, (cause) =>
    fatalError('RUN_UNREADABLE', `${path} is damaged: restore it from a backup.`, cause),
  );
}

/**
 * Gives the plan of a run to the run, at its start: a plan that was only submitted may still be cancelled and run under another name.
 *
 * @throws a usage error `PLAN_USED` when another run has the plan
 */
export async function claimPlan(store: Pick<RunStore, 'stateDir'>, record: RunRecord): Promise<void> {
  const { planFile, rows, id } = record;
  if (planFile === undefined) return;
  const key = runKey(record);
  const path = claimPath(store, rows.sha256);
  await makeFolder(join(store.stateDir, 'plans'));
  if (await onDisk(path, () => createFile(path, stringifyJson({ run: id, key })))) return;
  const claim = await readClaim(path);
  if (claim !== undefined && claim.key !== key) throw usedPlanError(planFile.name, claim.run);
}

/**
 * @param runId that the plan would get; if that run exists, it is the caller's to continue it or to refuse
 * @throws a usage error `PLAN_USED`, even for a run that has not started
 */
export async function refuseUsedPlan(
  store: RunStore,
  { file, planned: { digest } }: Pick<ReadPlan, 'file' | 'planned'>,
  runId: string | undefined,
): Promise<void> {
  const claim = await readClaim(claimPath(store, digest.sha256));
  const runs = await store.list(() => {});
  const planned = runs.find(({ planFile, rows }) => planFile !== undefined && rows.sha256 === digest.sha256);
  const run = claim?.run ?? planned?.id;
  if (run === undefined || (run === runId && runs.some(({ id }) => id === runId))) return;
  throw usedPlanError(file, run);
}

function usedPlanError(file: string, run: string): CqbatchError {
  return usageError(
    'PLAN_USED',
    `${escapeInvisible(file)} is the plan of run ${run}, and a plan is run once. "cqbatch show ${run}" shows that run; to call its rows once more, make ` +
      'a new plan.',
  );
}

/** @throws a usage error when the run of the plan's rows has been retried or undone since */
export async function refuseOutdatedPlan(store: RunStore, { file, head }: ReadPlan): Promise<void> {
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
