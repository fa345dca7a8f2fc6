import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFileIfAny } from '../../../base/disk/json-file.ts';
import { BusyError, usageError } from '../../../base/errors/errors.ts';
import { isActive } from '../../cluster/entries.ts';
import { resumeCommand } from '../../report/next-steps.ts';
import { summaryFile } from '../../report/summary.ts';
import { actualState, isOver, plannedAt, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';

export interface RetriedRun {
  /** The run of the user's manifest, or the oldest that still exists. */
  readonly firstRun: RunRecord;
  /** The retries, oldest first, with the retries of retries. */
  readonly retries: readonly RunRecord[];
}

/** @param named the run, or any of its retries */
export async function findRetries(store: RunStore, named: RunRecord): Promise<RetriedRun> {
  return retriesAmong(await store.list(), named);
}

/** @param runs oldest first */
export function retriesAmong(runs: readonly RunRecord[], named: RunRecord): RetriedRun {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const firstOf = (run: RunRecord): RunRecord => {
    const retried = byId.get(run.retryOf ?? '');
    // A removed run may have left its id to a newer run.
    return retried === undefined || plannedAt(retried) >= plannedAt(run) ? run : firstOf(retried);
  };
  const firstRun = firstOf(named);
  return {
    firstRun,
    retries: runs.filter((run) => run.id !== firstRun.id && firstOf(run).id === firstRun.id),
  };
}

export function retriesAfter({ retries }: RetriedRun, { id }: RunRecord): readonly RunRecord[] {
  // The first run is not in the list: -1 selects all retries.
  return retries.slice(retries.findIndex((retry) => retry.id === id) + 1);
}

/** @param runs oldest first */
export function undosOf(runs: readonly RunRecord[], undone: RunRecord): readonly RunRecord[] {
  return runs.filter((run) => run.undoOf === undone.id && plannedAt(run) > plannedAt(undone));
}

/** A retry that may still call rows of the run. */
export function unfinishedAmong(retries: readonly RunRecord[]): RunRecord | undefined {
  return retries.find((retry) => !isOver(retry));
}

/** @throws a usage or busy error when another run may call rows of this run, too */
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

const reportedSchema = z.object({ retries: z.array(z.string()) });

/** The retries whose results the report in a folder includes. */
export async function reportedRetries(folder: string): Promise<readonly string[]> {
  return (await readJsonFileIfAny(join(folder, summaryFile), reportedSchema))?.retries ?? [];
}
