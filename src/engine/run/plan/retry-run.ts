import { type Defer, withScope } from '../../../base/async/scope.ts';
import { operationNamed, requestDigest } from '../../operation/shown-request.ts';
import { rowStep } from '../../report/row-steps.ts';
import { DigestTable } from '../../rows/digest-table.ts';
import type { Overflow } from '../../rows/record-pages.ts';
import type { CallableRow, PlannedRow } from '../../rows/row.ts';
import { SubjectIndex } from '../../rows/subject-index.ts';
import type { RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { DerivedRows, type DerivedRowsInput } from './derived-rows.ts';
import { keysOfRetried } from './kept-keys.ts';
import type { PlannedRows } from './planned-rows.ts';
import {
  callsOf,
  isToBeRetried,
  openLastRowsWithResults,
  type RowsWithResults,
  subjectKey,
} from './rows-with-results.ts';

/** The rows of a run that are called again. Default: all failed rows. */
export interface RetryChoice {
  readonly codes?: readonly string[] | undefined;
  /** Takes only unclear rows. */
  readonly unclear?: boolean | undefined;
  /** Takes only rows that may succeed although no person has changed anything. */
  readonly transient?: boolean | undefined;
  /** Rows that are left out, because a look at their entries has answered what became of them. */
  readonly answeredRowsToOmit?: ReadonlySet<number> | undefined;
}

export interface RetryRows extends PlannedRows {
  /** All rows that can be retried, by code. */
  readonly codes: ReadonlyMap<string, number>;
  /** The rows that are called again, of those that can be retried. */
  readonly chosenCodes: ReadonlyMap<string, number>;
  /** Rows left out because a later row with their subject has succeeded: retrying them would revert that row. */
  readonly overtakenCount: number;
  /** How many of the answered rows are left out. */
  readonly answeredCount: number;
}

/** Writes rows that failed, and did not succeed in a later retry; of a cancelled run also the uncalled rows. */
export function writeRetryRows(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  {
    codes: wanted,
    unclear: onlyUnclear,
    transient: onlyTransient,
    answeredRowsToOmit: answeredRows,
  }: RetryChoice,
  input: DerivedRowsInput,
): Promise<RetryRows> {
  return withScope(async (defer) => {
    const run = await openLastRowsWithResults(store, record, later, defer);
    const overflow = input.overflow ?? { folder: store.stateDir };
    const isOvertaken = await overtakenTest(record, run, overflow, defer);
    const keys = await keysOfRetried(store, [record, ...later]);
    const isCompared = input.lists !== undefined;
    let overtakenCount = 0;
    let answeredCount = 0;
    const [codes, chosenCodes] = [new Map<string, number>(), new Map<string, number>()];
    const subjects = record.plan.conflicts > 0 ? new SubjectIndex(overflow) : undefined;
    defer(() => subjects?.close());
    const rows = new DerivedRows(store, record, input, subjects);
    defer(() => rows.discard());
    for await (const part of callsOf(run, isToBeRetried)) {
      for (const { row, result } of part) {
        if (row.kind !== 'callable') continue;
        if (isOvertaken(row)) {
          overtakenCount += 1;
          continue;
        }
        countCode(codes, result.code);
        const kept = keys.take(row);
        if (wanted?.includes(result.code) === false || (onlyUnclear && !result.unclear)) continue;
        if (onlyTransient && rowStep(result.code, record.state) !== 'retry') continue;
        if (answeredRows?.has(row.row)) {
          answeredCount += 1;
          continue;
        }
        countCode(chosenCodes, result.code);
        const { unclear: _, key: __, ...call } = isCompared ? withChangedValuesOnly(row) : row;
        // A retry is a plan of its own: the operation may have been corrected.
        const operation = operationNamed(store.operations, row.operation.name);
        // A comparison completes the row before its request is made.
        const digest = isCompared ? '' : requestDigest(operation.request(call.values));
        const again = { ...call, operation, requestDigest: digest };
        const unclear = result.unclear && ({ unclear: true, ...(kept && { key: kept.key }) } as const);
        await rows.add(unclear ? { ...again, ...unclear } : again, row.cells);
      }
    }
    const planned = await rows.end({ of: run.head, as: 'retry', run: record.id, options: input.options });
    return { ...planned, codes, chosenCodes, overtakenCount, answeredCount };
  });
}

function countCode(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}

/** A compared row has the whole entry as it was: of this, only what the row changes is wanted now. */
function withChangedValuesOnly<Row extends CallableRow & PlannedRow>(row: Row): Row {
  const { compared, values, old = {}, operation } = row;
  if (!compared) return row;
  const wanted = operation.fields.filter(({ name, required }) => required || old[name] !== undefined);
  return { ...row, values: Object.fromEntries(wanted.map(({ name }) => [name, values[name] ?? ''])) };
}

/** Tells whether a later row with the same subject has succeeded. */
async function overtakenTest(
  { options, plan }: RunRecord,
  run: RowsWithResults,
  overflow: Overflow,
  defer: Defer,
): Promise<(call: CallableRow) => boolean> {
  if (options.onConflict !== 'in-order' || plan.conflicts === 0) return () => false;
  const rows = new DigestTable(1, overflow);
  defer(() => rows.close());
  for await (const part of callsOf(run, ({ result }) => result.outcome === 'succeeded')) {
    for (const { row } of part) {
      const key = subjectKey(row);
      const known = rows.find(key);
      rows.set(known < 0 ? rows.enter(key) : known, 0, row.row);
    }
  }
  return (call) => {
    const succeeded = rows.find(subjectKey(call));
    return succeeded >= 0 && rows.get(succeeded, 0) > call.row;
  };
}
