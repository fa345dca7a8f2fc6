import { withScope } from '../../../base/async/scope.ts';
import { usageError } from '../../../base/errors/errors.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { ListedEntries } from '../../list/listed-entries.ts';
import { operationNamed } from '../../operation/shown-request.ts';
import { type CheckedRow, type RunCheck, writeCheck } from '../../report/check-file.ts';
import { showCheck } from '../../report/html/html-report.ts';
import { isResumed, isUnfinished } from '../../report/join-results.ts';
import type { RetriedRun } from '../plan/retries.ts';
import { type CallLine, callsOf, openLastRowsWithResults } from '../plan/rows-with-results.ts';
import { openRunRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import { delimiterOf, stepsAfter } from '../report/report-run.ts';
import { CheckTally } from './check-tally.ts';
import { isOpenRow, LastRows } from './last-rows.ts';
import { OperationEntries, type OperationEntriesOptions } from './operation-entries.ts';

export interface CheckOfRun {
  readonly check: RunCheck;
  /** The path of check.csv. */
  readonly path: string;
  /** The lists that were read. */
  readonly lists: readonly Pick<ListedEntries, 'list' | 'counts'>[];
}

/**
 * Compares the rows of a run that were called, or may have been, with what the service has now. Rows of retries count as they ended last.
 * The report of the run stays as it is, but for the parts of its page about the check and the next steps.
 *
 * @throws a usage error `CHECK_IMPOSSIBLE`, `NOTHING_TO_CHECK` or `OPERATION_MISSING`, the errors of reading the run, the lists and single
 *   entries, and those of writing
 */
export function checkRun(
  store: RunStore,
  { firstRun, retries }: RetriedRun,
  options: OperationEntriesOptions,
): Promise<CheckOfRun> {
  return withScope(async (defer) => {
    const run = await openLastRowsWithResults(store, firstRun, retries, defer);
    const calls = () => callsOf(run, ({ result }) => wasCalled(result));
    const known = new Map<string, OperationEntries>();
    const entriesOf = async ({ row }: CallLine): Promise<OperationEntries> => {
      const { name } = row.operation;
      const entries =
        known.get(name) ??
        (await OperationEntries.read(operationNamed(store.operations, name), options, defer));
      known.set(name, entries);
      return entries;
    };
    const last = new LastRows();
    for await (const part of calls()) {
      for (const line of part) {
        last.add(line);
        (await entriesOf(line)).seek(line.row);
      }
    }
    if (known.size === 0)
      throw usageError(
        'NOTHING_TO_CHECK',
        `No row of run ${firstRun.id} was called, so there is nothing to check.`,
      );
    for (const entries of known.values()) await entries.readDone();
    const tally = new CheckTally();
    const checked = async function* (): AsyncGenerator<readonly CheckedRow[]> {
      for await (const part of calls()) {
        const rows: CheckedRow[] = [];
        for (const line of part) {
          const isOvertaken = last.isOvertaken(line);
          const verdict = isOvertaken ? overtaken : await (await entriesOf(line)).judge(line.row);
          const row = { ...verdict, ...factsOf(line) };
          tally.add(row, line.row.operation.thing);
          rows.push(row);
        }
        yield rows;
      }
    };
    const folder = store.folder(firstRun.id);
    const written = await writeCheck(folder, checked(), {
      delimiter: delimiterOf(firstRun),
      end: () => ({
        check_version: 1,
        checked_at: options.lists.all[0]?.readAt ?? '',
        runs: [firstRun, ...retries].map(({ id }) => id),
        ...tally.counts(),
      }),
    });
    for (const record of [firstRun, ...retries]) {
      const { head } = await openRunRows(store, record);
      const check = record === firstRun ? written.check : undefined;
      await showCheck(store.folder(record.id), check, (summary) => stepsAfter(store, record, summary, head));
    }
    return { ...written, lists: options.lists.all };
  });
}

const overtaken = { check: 'overtaken', there: '' } as const;

/** Whether a row was called, or may have been. */
function wasCalled({ outcome, attempts, unclear }: RowResult): boolean {
  return (attempts > 0 && outcome !== 'not_attempted') || unclear || outcome === 'pending';
}

/** A cancelled run is not resumed: a retry calls its rows. */
function isResumedRow(result: RowResult): boolean {
  return isUnfinished(result) && isResumed(result.code);
}

function factsOf({ row, result }: CallLine): Omit<CheckedRow, 'check' | 'there'> {
  return {
    row: row.row,
    operation: row.operation.name,
    subject: row.subject,
    outcome: result.outcome,
    unclear: result.unclear,
    isUnfinished: result.outcome === 'pending' || isResumedRow(result),
    ...(isOpenRow(result) && { open: true }),
  };
}
