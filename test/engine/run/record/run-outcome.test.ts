import { expect, test } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/exit-codes.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import { type RunResult, resultOf } from '../../../../src/engine/run/record/run-outcome.ts';

test.each<[state: string, because: string | undefined, counts: object, result: RunResult, exitCode: number]>([
  ['completed', undefined, { succeeded: 2 }, 'succeeded', 0],
  ['completed', undefined, { succeeded: 2, skipped: 1, duplicate: 1 }, 'succeeded', 0],
  ['completed', undefined, { succeeded: 2, failed: 1 }, 'rows_failed', 1],
  ['completed', undefined, { succeeded: 2, invalid: 1 }, 'rows_failed', 1],
  ['halted', 'failures', { failed: 3 }, 'halted', 3],
  ['halted', 'canary', { failed: 1 }, 'halted', 3],
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
