import { noHistory, type RowHistory } from '../../domain.ts';
import { DigestTable } from '../../manifest/check/digest-table.ts';
import type { FieldNamer } from '../../manifest/columns/column-names.ts';
import type { CallableRow } from '../../manifest/columns/row-preparer.ts';
import { type AtEnd, withReleases } from '../../releases.ts';
import { isUnfinished, type ReportLine } from '../../report/join-results.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { callsOf, openLastLines, RowsFile, subjectKey } from './run-lines.ts';

/** Which of the rows are wanted that may be tried again; default: all of them. */
export interface RetryChoice {
  readonly codes?: readonly string[] | undefined;
  /** Only those with an attempt that may have been processed unseen. */
  readonly unclear?: boolean | undefined;
}

/** Rows of a run as a manifest of their own. */
export interface RetryManifest {
  /** Their numbers in the manifest that the user gave. */
  readonly rowNumbers: readonly number[];
  /** What is known of their attempts, by row of the new manifest: an unclear one matters for the next attempt. */
  readonly histories: ReadonlyMap<number, RowHistory>;
  /** How many there are by code, those that are not wanted among them. */
  readonly codes: ReadonlyMap<string, number>;
  /** Rows that are left out, because a later row of their subject has succeeded: they would take it back. */
  readonly overtaken: number;
}

/** Whether a run has rows that may be tried again. @param later the retries of the same rows that were made after it */
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
 * Writes the rows of a run that have failed, and not succeeded in a later retry, as a JSON Lines manifest: unlike CSV it
 * holds any text exactly, and every row says its operation and the defaults that it had. Of a cancelled run, the rows
 * that were not called are among them. Rows that a later one of their subject has overtaken are not.
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

/** Finds the last row of each subject that has succeeded, where several rows may act on one. */
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

/** Rows without a result are called when their run goes on, unless it was given up. */
function isToBeRetried({ result }: ReportLine): boolean {
  return isUnfinished(result) ? result.code === 'CANCELLED' : result.outcome === 'failed';
}

/** The row's own cells, and the defaults for fields that none of them gives, however its column is written. */
function completeRow(
  cells: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, unknown>,
  fieldOf: FieldNamer,
): Readonly<Record<string, unknown>> {
  const given = new Set(Object.keys(cells).map(fieldOf));
  const missing = [...defaults].filter(([field]) => !given.has(field));
  return { ...cells, ...Object.fromEntries(missing) };
}
