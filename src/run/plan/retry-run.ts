import { noHistory, type RowHistory } from '../../domain.ts';
import { DigestTable } from '../../manifest/check/digest-table.ts';
import type { FieldNamer } from '../../manifest/columns/column-names.ts';
import type { CallableRow } from '../../manifest/columns/row-preparer.ts';
import { type AtEnd, withReleases } from '../../releases.ts';
import { isUnfinished, type ReportLine } from '../../report/join-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { callsOf, openLastLines, RowsFile, subjectKey } from './run-lines.ts';

/** Which failed rows to retry. Default: all. */
export interface RetryChoice {
  readonly codes?: readonly string[] | undefined;
  /** Only rows with an attempt that may have been processed. */
  readonly unclear?: boolean | undefined;
}

/** Rows of a run as a new manifest. */
export interface RetryManifest {
  /** Row numbers in the user's manifest. */
  readonly rowNumbers: readonly number[];
  /** Earlier attempts, by row of the new manifest: an unclear attempt affects how the next is judged. */
  readonly histories: ReadonlyMap<number, RowHistory>;
  /** Number of rows that can be retried, by code, whether selected or not. */
  readonly codes: ReadonlyMap<string, number>;
  /** Rows left out because a later row with their subject has succeeded: retrying them would revert it. */
  readonly overtaken: number;
}

/** Whether rows of a run can be retried. @param later the retries of the same rows that were made after it */
export function hasRowsToRetry(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<boolean> {
  return withReleases(async (atEnd) => {
    const { lines } = await openLastLines(store, record, later, atEnd);
    for await (const part of lines) if (part.some(isToBeRetried)) return true;
    return false;
  });
}

/**
 * Writes the rows of a run that failed, and did not succeed in a later retry, as a JSON Lines manifest. Unlike CSV it holds any
 * text exactly; each row includes its operation and defaults. A cancelled run contributes its uncalled rows, too. Rows are left
 * out when a later row with their subject has succeeded.
 */
export function writeRetryManifest(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  { codes: wanted, unclear: onlyUnclear }: RetryChoice,
  path: string,
): Promise<RetryManifest> {
  return withReleases(async (atEnd) => {
    const isOvertaken = await overtaking(store, record, later, atEnd);
    const run = await openLastLines(store, record, later, atEnd);
    const { defaults, fieldOf } = run.prepare;
    let overtaken = 0;
    const histories = new Map<number, RowHistory>();
    const codes = new Map<string, number>();
    const file = new RowsFile(path);
    for await (const part of callsOf(run, isToBeRetried)) {
      for (const { row, result, call } of part) {
        if (isOvertaken(call)) {
          overtaken += 1;
          continue;
        }
        codes.set(result.code, (codes.get(result.code) ?? 0) + 1);
        if (wanted?.includes(result.code) === false || (onlyUnclear && !result.unclear)) continue;
        const missing = new Map([...defaults, ['operation', call.operation.name]]);
        const number = file.add(row.row, completeRow(row.cells, missing, fieldOf));
        if (result.unclear) histories.set(number, { ...noHistory, unclear: true });
      }
      await file.flush();
    }
    await file.flush();
    return { rowNumbers: file.rowNumbers, histories, codes, overtaken };
  });
}

/** Finds the last row that succeeded for each subject with several rows. */
async function overtaking(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  atEnd: AtEnd,
): Promise<(call: CallableRow) => boolean> {
  const { options, plan } = record;
  if ((options.onConflict ?? 'in-order') !== 'in-order' || plan.conflicts === 0) return () => false;
  const run = await openLastLines(store, record, later, atEnd);
  const rows = new DigestTable(1);
  for await (const part of callsOf(run, ({ result }) => result.outcome === 'succeeded')) {
    for (const { row, call } of part) {
      const key = subjectKey(call);
      const known = rows.find(key);
      rows.set(known < 0 ? rows.enter(key) : known, 0, row.row);
    }
  }
  return (call) => {
    const succeeded = rows.find(subjectKey(call));
    return succeeded >= 0 && rows.get(succeeded, 0) > call.row;
  };
}

/** A row without a result is called on resume, unless its run was cancelled. */
function isToBeRetried({ result }: ReportLine): boolean {
  return isUnfinished(result) ? result.code === 'CANCELLED' : result.outcome === 'failed';
}

/** The row's cells, and the defaults for fields without a cell, under any name of their column. */
function completeRow(
  cells: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, unknown>,
  fieldOf: FieldNamer,
): Readonly<Record<string, unknown>> {
  const given = new Set(Object.keys(cells).map(fieldOf));
  const missing = [...defaults].filter(([field]) => !given.has(field));
  return { ...cells, ...Object.fromEntries(missing) };
}
