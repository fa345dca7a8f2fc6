import { BusyError, usageError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { isActive } from '../../../engine/cluster/entries.ts';
import { findOperation } from '../../../engine/operation/operation.ts';
import { planSuffix, type ReadPlan } from '../../../engine/run/plan/plan-file.ts';
import { retriesAfter, retriesAmong, undosOf, unfinishedAmong } from '../../../engine/run/plan/retries.ts';
import { actualState, plannedAt, type RunRecord, resumeCommand } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import type { CommandContext } from '../../context.ts';

/**
 * @param doing the command: `retry` or `undo`
 * @throws a usage or busy error when another run may call rows of this run, too
 */
export function refuseUnlessOver(
  doing: 'retry' | 'undo',
  record: RunRecord,
  later: readonly RunRecord[],
): void {
  const { id } = record;
  if (isActive(actualState(record)))
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${id} is still in progress`,
      `Wait for its end, then ${doing} it.`,
    );
  const unfinished = unfinishedAmong(later);
  if (unfinished === undefined) return;
  const state = actualState(unfinished);
  const what = unfinished.undoOf === id ? 'undoes' : 'retries rows of';
  if (isActive(state))
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${unfinished.id}, which ${what} run ${id}, is still in progress`,
      'Wait for its end.',
    );
  throw usageError(
    'RETRY_UNFINISHED',
    `Run ${unfinished.id}, which ${what} run ${id}, is ${state}: "${resumeCommand(unfinished)}" continues it, ` +
      `or cancel it ("cqbatch cancel ${unfinished.id}") before you ${doing} them again.`,
  );
}

/** Warns of operations that are not those of the plan: what is sent stands in the plan, but they say what answers mean. */
export function warnOfOtherOperations({ terminal, store }: CommandContext, { head, file }: ReadPlan): void {
  for (const { name, module } of head.operations) {
    const loaded = findOperation(store.operations, name);
    if (loaded === undefined || loaded.module === module) continue;
    terminal.warn(
      `warning: the module of the operation ${name} is not the one that ${escapeInvisible(file)} was made with: answers may be understood differently.`,
    );
  }
}

/** @throws a usage error for a plan of a run's rows, when the run has been retried or undone since */
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
