import type { RowCode } from '../../codes.ts';
import type { RowResult } from '../../domain.ts';
import type { DoneRows } from '../../manifest/check/call-index.ts';
import { type ScanHandlers, type ScanSummary, scanManifest } from '../../manifest/check/scan.ts';
import type { OperationChoice } from '../../manifest/columns/operation-choice.ts';
import type { InvalidRow, PreparedRow } from '../../manifest/columns/row-preparer.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import type { RunStore } from '../record/store.ts';
import { type ProblemList, problemCollector } from './problem-file.ts';
import { openPlannedManifest, type RowOptions } from './run-manifest.ts';

export interface CheckInput {
  /** A regular file: it may be read twice. */
  readonly path: string;
  /** Its name in messages. */
  readonly name: string;
  readonly options: RowOptions;
  readonly context?: ReadingContext;
  /** What earlier runs have done: these rows are left out. */
  readonly done?: DoneRows | undefined;
}

/** A manifest whose rows have all been checked. */
export interface CheckedManifest {
  readonly manifest: Manifest;
  readonly scan: ScanSummary;
  readonly choice: OperationChoice;
  readonly problems: ProblemList;
}

/**
 * Checks every row of a manifest as a run would, and writes a list of problems beside the runs.
 *
 * @param onUncalled receives the results of rows without a call, in order
 * @throws a usage error when the manifest is unreadable or its operation is unknown
 */
export async function checkManifest(
  { operations, stateDir }: Pick<RunStore, 'operations' | 'stateDir'>,
  { path, name, options, context, done }: CheckInput,
  onUncalled: (result: RowResult) => Promise<void> | void = () => {},
): Promise<CheckedManifest> {
  const { manifest, prepare } = await openPlannedManifest(path, name, options, { ...context, operations });
  const problems = problemCollector(stateDir, name, path);
  const { onConflict = 'refuse' } = options;
  const handlers: ScanHandlers = {
    async onInvalid(row) {
      await problems.add(row);
      await onUncalled(uncalled(row, 'invalid', 'INVALID_ROW', problemsText(row)));
    },
    onDuplicate: (row, duplicateOf) =>
      onUncalled({ ...uncalled(row, 'duplicate', 'DUPLICATE', ''), duplicateOf }),
    onDone: (row, before) =>
      onUncalled(
        uncalled(row, 'skipped', 'DONE_BEFORE', `done before, in row ${before.row} of ${before.source}`),
      ),
    onSuperseded(row, lastRow) {
      const what = `also changes ${row.operation.thing} ${row.subject}`;
      return onUncalled(
        uncalled(row, 'skipped', 'SUPERSEDED', `row ${lastRow}, which ${what}, is called instead`),
      );
    },
    ...(onConflict === 'refuse' && { onConflict: (conflict) => problems.addConflict(conflict) }),
  };
  const scan = await scanManifest(manifest, prepare, handlers, { onConflict, done });
  return { manifest, scan, choice: prepare.choice, problems: await problems.end() };
}

/** The result of a row that is not called. */
function uncalled(
  { row, operation }: PreparedRow,
  outcome: RowResult['outcome'],
  code: RowCode,
  message: string,
): RowResult {
  return { row, operation: operation?.name ?? '', outcome, code, message, attempts: 0, unclear: false };
}

function problemsText({ problems }: InvalidRow): string {
  return problems
    .map(({ column, problem, value }) => {
      const where = column === undefined ? '' : `${column}: `;
      return `${where}${problem}${value === undefined ? '' : ` (${value})`}`;
    })
    .join('; ');
}
