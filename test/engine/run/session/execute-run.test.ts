import { expect, test } from 'vitest';
import { noOutcomes, type RowResult } from '../../../../src/domain/terms.ts';
import type { OpenRun } from '../../../../src/engine/run/record/open-run.ts';
import { observeRun } from '../../../../src/engine/run/session/execute-run.ts';
import type {
  EndedExecution,
  ObservedEnd,
  RunObserver,
} from '../../../../src/engine/run/session/execution-options.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { callable } from '../../rows/decided-rows.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';

/** A run with two rows, one of which got its result in the plan, and what is reported about it. */
function observed(states: readonly string[]) {
  const told: number[] = [];
  const ends: (ObservedEnd | undefined)[] = [];
  let waiting = (): number => 0;
  const observer: RunObserver = {
    started(waitingRows) {
      waiting = waitingRows;
      return { ended: (end) => ends.push(end) };
    },
    finished: (results) => told.push(...(results as readonly RowResult[]).map(({ row }) => row)),
  };
  const counts = noOutcomes();
  const journal = {
    finishedCount: 0,
    outcomeCounts: counts,
    onFinished: (_: readonly RowResult[]) => {},
  };
  const plan = { rows: 2, callable: 1, invalid: 1, duplicates: 0, superseded: 0, doneBefore: 0 };
  const rows = rowsInMemory([
    { kind: 'invalid', row: 1, line: 2, problems: [{ problem: 'bad' }] },
    { ...callable, row: 2 },
  ]);
  const record = { plan, states: states.map((state) => ({ state, at: '' })) };
  const run = { record, journal } as unknown as OpenRun;
  const append = (...results: RowResult[]): void => {
    journal.finishedCount += results.length;
    journal.onFinished(results);
  };
  return { observer, run, rows, plan, counts, told, ends, append, waiting: () => waiting() };
}

function ended(end: object, isHandedOver = false): EndedExecution {
  return { record: { state: 'completed', states: [] }, end, isHandedOver } as unknown as EndedExecution;
}

test('an observer hears of each row once, and of rows with results from the plan at the start', async () => {
  const { observer, run, rows, told, ends, append, waiting } = observed(['planned']);
  await observeRun(observer, run, rows, async () => {
    expect([told, waiting()]).toEqual([[1], 1]);
    append(resultOf(2));
    return ended({ state: 'completed' });
  });
  expect([told, waiting()]).toEqual([[1, 2], 0]);
  expect(ends).toEqual([{ result: 'rows_failed', durationMs: 0 }]);
});

test('a resumed run reports only what is new', async () => {
  const { observer, run, rows, told, append } = observed(['planned', 'running', 'interrupted']);
  await observeRun(observer, run, rows, async () => {
    append(resultOf(2, { outcome: 'failed' }));
    return ended({ state: 'halted' });
  });
  expect(told).toEqual([2]);
});

test('a run that is handed over does not end here, and one that throws has failed', async () => {
  const { observer, run, rows, ends } = observed([]);
  await observeRun(observer, run, rows, async () => ended({ state: 'interrupted' }, true));
  const broken = observeRun(observer, run, rows, () => Promise.reject(new Error('disk')));
  await expect(broken).rejects.toThrow('disk');
  expect(ends).toEqual([undefined, { result: 'failed' }]);
});
