import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/exit-codes.ts';
import { noOutcomes, wentWrong } from '../../../../src/domain/terms.ts';
import {
  endFactsOf,
  endInWords,
  endings,
  isFinalState,
  leavesRows,
  type RunResult,
  resultOf,
  runResults,
} from '../../../../src/engine/run/record/ending.ts';
import {
  isHaltedByGuard,
  isOver,
  isResumable,
  runStates,
  unfinishedBecause,
} from '../../../../src/engine/run/record/record.ts';
import { plannedRecord } from '../planned-record.ts';

test.each<[state: string, because: string | undefined, counts: object, result: RunResult, exitCode: number]>([
  ['completed', undefined, { succeeded: 2 }, 'succeeded', 0],
  ['completed', undefined, { succeeded: 2, skipped: 1, duplicate: 1 }, 'succeeded', 0],
  ['completed', undefined, { succeeded: 2, failed: 1 }, 'rows_failed', 1],
  ['completed', undefined, { succeeded: 2, invalid: 1 }, 'rows_failed', 1],
  ['halted', 'guard', { failed: 3 }, 'halted', 3],
  ['halted', 'canary', { failed: 1 }, 'halted', 3],
  ['halted', 'a cause of another version', { failed: 1 }, 'halted', 3],
  ['halted', undefined, { failed: 1 }, 'halted', 3],
  ['halted', 'stuck', {}, 'failed', 4],
  ['cancelled', undefined, { succeeded: 1 }, 'cancelled', 3],
  ['interrupted', 'budget', { succeeded: 1 }, 'spent', 6],
  ['interrupted', undefined, { succeeded: 1 }, 'interrupted', 130],
  ['failed', undefined, {}, 'failed', 4],
  ['planned', undefined, {}, 'failed', 4],
])(
  'a run that is %s because of %s, with %j, is %s and exits with %i',
  (state, because, counts, result, code) => {
    const outcomes = { ...noOutcomes(), ...counts };
    expect(resultOf({ state, because }, outcomes)).toBe(result);
    expect(exitCodeOf({ state, because }, outcomes)).toBe(code);
  },
);

test('each result is that of an end, and each exit code is on the page of exit codes', async () => {
  const all = Object.values(endings);
  expect(new Set(all.map(({ result }) => result))).toEqual(new Set(runResults));
  const page = await readFile('docs/exit-codes.md', 'utf8');
  for (const { exitCode } of all) expect(page).toContain(`\n| ${exitCode} | `);
});

test.each([
  ['completed', undefined, { words: 'completed', over: true, guard: false, wrong: false }],
  ['cancelled', undefined, { words: 'cancelled', over: true, guard: false, wrong: false }],
  ['interrupted', undefined, { words: 'interrupted', over: false, guard: false, wrong: false }],
  ['interrupted', 'budget', { words: 'interrupted', over: false, guard: false, wrong: false }],
  ['halted', 'guard', { words: 'halted', over: false, guard: true, wrong: true }],
  ['halted', 'canary', { words: 'halted', over: false, guard: true, wrong: true }],
  ['halted', 'stuck', { words: 'gave up', over: false, guard: false, wrong: true }],
  ['failed', undefined, { words: 'failed', over: false, guard: false, wrong: true }],
] as const)(
  'records and places that show them agree about a run that is %s (%s)',
  (state, because, known) => {
    const states = [{ state, at: '', ...(because && { because }) }];
    const record = { ...plannedRecord, state, states };
    const end = endFactsOf({ state, because });
    expect(endInWords({ state, because })).toBe(known.words);
    expect(isOver(record)).toBe(known.over);
    expect(isFinalState(state)).toBe(known.over);
    expect(isResumable(state)).toBe(!known.over);
    expect(end && leavesRows(end.result)).toBe(!known.over);
    expect(isHaltedByGuard(record)).toBe(known.guard);
    expect(wentWrong(end?.manner)).toBe(known.wrong);
    expect(unfinishedBecause(record)).toBe(
      ['halted', 'gave up', 'cancelled'].includes(known.words) ? known.words : 'interrupted',
    );
  },
);

test('a run that has not ended says its state', () => {
  for (const state of runStates.filter((each) => endFactsOf({ state: each }) === undefined))
    expect(endInWords({ state })).toBe(state);
});
