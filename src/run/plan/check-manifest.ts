import type { DoneRows } from '../../manifest/check/done-rows.ts';
import { type ScanHandlers, type ScanSummary, scanManifest } from '../../manifest/check/scan.ts';
import type { OperationChoice } from '../../manifest/columns/operation-choice.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import type { RunStore } from '../record/store.ts';
import { ProblemCollector, type ProblemList } from './problem-file.ts';
import { openPlannedManifest, type RowOptions } from './run-manifest.ts';

export interface CheckInput {
  /** A file: it may be read twice. */
  readonly path: string;
  /** What to call it in messages. */
  readonly name: string;
  readonly options: RowOptions;
  readonly context?: ReadingContext;
  /** What earlier runs have done: its rows are left out. */
  readonly done?: DoneRows | undefined;
}

/** A manifest whose rows have all been looked at. */
export interface CheckedManifest {
  readonly manifest: Manifest;
  readonly scan: ScanSummary;
  readonly choice: OperationChoice;
  readonly problems: ProblemList;
}

/**
 * Checks every row of a manifest as a run would, and keeps nothing but a list of problems beside the runs.
 *
 * @throws a usage error when the manifest can't be read or its operation can't be told
 */
export async function checkManifest(
  { operations, stateDir }: Pick<RunStore, 'operations' | 'stateDir'>,
  { path, name, options, context, done }: CheckInput,
): Promise<CheckedManifest> {
  const { manifest, prepare } = await openPlannedManifest(path, name, options, { ...context, operations });
  const problems = new ProblemCollector(stateDir, name);
  const { onConflict = 'refuse' } = options;
  const handlers: ScanHandlers = {
    onInvalid: (row) => problems.add(row),
    ...(onConflict === 'refuse' && { onConflict: (conflict) => problems.addConflict(conflict) }),
  };
  const scan = await scanManifest(manifest, prepare, handlers, { onConflict, done });
  return { manifest, scan, choice: prepare.choice, problems: await problems.end() };
}
