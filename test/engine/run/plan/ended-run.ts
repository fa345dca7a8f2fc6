import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operations } from '../../../../jobs/index.ts';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import type { ConflictRule } from '../../../../src/domain/terms.ts';
import type { EntryLists } from '../../../../src/engine/list/entry-lists.ts';
import type { PlannedRow } from '../../../../src/engine/rows/row.ts';
import { openRows } from '../../../../src/engine/rows/rows-file.ts';
import { type CreateRunInput, createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { writeRetryRows } from '../../../../src/engine/run/plan/retry-run.ts';
import { enterState, type RunRecord, type RunState } from '../../../../src/engine/run/record/record.ts';
import { openRunRows } from '../../../../src/engine/run/record/run-rows.ts';
import { openRunStore, type RunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

export type Cells = Readonly<Record<string, unknown>>;

/** How a run ended. */
export interface Ending {
  readonly state?: RunState;
  /** Results of rows that have not succeeded, by place; null: without a result. */
  readonly others?: Readonly<Record<number, Partial<RowResult> | null>>;
}

/** A run of a manifest with these rows that has ended. */
export async function endedRun(
  given: readonly Cells[],
  {
    lists,
    onConflict = lists === undefined ? 'in-order' : 'refuse',
    ...ending
  }: Ending & { readonly onConflict?: ConflictRule; readonly lists?: EntryLists } = {},
): Promise<{ readonly store: RunStore; readonly record: RunRecord }> {
  const stateDir = await temporaryFolder();
  const source = join(stateDir, 'given.jsonl');
  await writeFile(source, given.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const store = openRunStore(stateDir, operations);
  const options = { ...leastOptions, onConflict };
  return {
    store,
    record: await end(
      store,
      { rows: { ...manifestAt(source, { onConflict, compare: lists !== undefined }), lists }, options },
      ending,
    ),
  };
}

/** Creates a run, and ends it. */
export async function end(
  store: RunStore,
  input: CreateRunInput,
  { state = 'completed', others = {} }: Ending,
) {
  const { record, journal } = await createRun(store, input);
  for await (const part of (await openRunRows(store, record)).rows()) {
    for (const { kind, place, operation } of part) {
      const other = others[place];
      if (kind !== 'callable' || other === null) continue;
      const result = resultOf(place, {
        operation: operation.name,
        finishedAt: '2026-01-01T00:00:00.000Z',
        ...other,
      });
      await journal.append([{ type: 'row', result }]);
    }
  }
  await journal.close();
  const ended = enterState(record, state);
  await store.save(ended);
  return ended;
}

/** A retry that has ended, of a run that has no other. */
export async function endedRetry(store: RunStore, record: RunRecord, ending: Ending): Promise<RunRecord> {
  const path = join(store.stateDir, 'retry.jsonl');
  const planned = await writeRetryRows(store, record, [], {}, { options: leastOptions, path });
  return end(store, { rows: { kind: 'rows', path, planned }, options: leastOptions }, ending);
}

export async function rowsIn(path: string): Promise<readonly PlannedRow[]> {
  const rows: PlannedRow[] = [];
  for await (const part of (await openRows(path)).rows()) rows.push(...part);
  return rows;
}
