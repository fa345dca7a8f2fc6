import { expect, test } from 'vitest';
import { retriesAfter, retriesAmong } from '../../../../src/engine/run/plan/retries.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { plannedRecord } from '../planned-record.ts';

let seconds = 0;

/** A run that is planned after all runs made before. */
function run(id: string, changes: Partial<RunRecord> = {}): RunRecord {
  seconds += 1;
  const at = new Date(seconds * 1_000).toISOString();
  return { ...plannedRecord, id, state: 'completed', states: [{ state: 'planned', at }], ...changes };
}

function retry(id: string, retryOf: string, changes: Partial<RunRecord> = {}): RunRecord {
  return run(id, { retryOf, ...changes });
}

const ids = (runs: readonly RunRecord[]): readonly string[] => runs.map(({ id }) => id);

test('a run has the retries of its retries, whichever run is named', () => {
  const a = run('a');
  const b = retry('b', 'a');
  const other = retry('other', 'x');
  const c = retry('c', 'b');
  const d = retry('d', 'a');
  for (const named of [a, b, c, d]) {
    const { firstRun, retries } = retriesAmong([a, b, other, c, d], named);
    expect(firstRun.id).toBe('a');
    expect(ids(retries)).toEqual(['b', 'c', 'd']);
  }
  const family = retriesAmong([a, b, other, c, d], a);
  expect(ids(retriesAfter(family, a))).toEqual(['b', 'c', 'd']);
  expect(ids(retriesAfter(family, c))).toEqual(['d']);
  expect(retriesAmong([a, b, other, c, d], other)).toEqual({ firstRun: other, retries: [] });
});

test('a removed run is not needed, and a new run of its name is another run', () => {
  const b = retry('b', 'a');
  const c = retry('c', 'b');
  expect(retriesAmong([b, c], c)).toEqual({ firstRun: b, retries: [c] });
  const newA = retry('a', 'c');
  expect(ids(retriesAmong([b, c, newA], newA).retries)).toEqual(['c', 'a']);
});
