import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completeState } from '../../../src/sandbox/state/state-document.ts';
import { type EvaluationSource, Evaluations, isInShare } from '../../../src/sandbox/state/store.ts';

function evaluations(source: Partial<EvaluationSource> = {}): Evaluations {
  return new Evaluations({
    seed: 1,
    generated: 200,
    unrecoverable: 20_000,
    notDeleted: 10_000,
    given: new Map(),
    ...source,
  });
}

const change = { userId: 'u', at: 0 };

test.each([
  ['1', 'restored'],
  ['50', 'not-recoverable'],
  ['70', 'not-deleted'],
  ['170', 'not-deleted'],
  ['200', 'not-recoverable'],
  ['201', 'unknown'],
  ['0', 'unknown'],
  ['-1', 'unknown'],
  ['9223372036854775807', 'unknown'],
])('restoring evaluation %s: %s', (id, expected) => {
  const result = evaluations().restore(id, change);
  expect(typeof result === 'string' ? result : 'restored').toBe(expected);
});

test('a restored evaluation stays restored, and the others as they are', () => {
  const all = evaluations();
  const before = all.find('2');
  all.restore('1', change);
  expect(all.find('1')?.deleted_at).toBeUndefined();
  expect(all.restore('1', change)).toBe('not-deleted');
  expect([...all.changes]).toEqual([['1', change]]);
  expect(all.find('2')).toEqual(before);
});

test('given evaluations win over generated ones and are listed once', () => {
  const { evaluations: given } = completeState(
    { evaluations: [{ evaluation_id: 2, is_recoverable: false }, { evaluation_id: 9223372036854775807n }] },
    1,
    'state',
  );
  const all = evaluations({ generated: 3, given });
  expect([...all.ids()]).toEqual(['1', '2', '3', '9223372036854775807']);
  expect(all.restore('2', change)).toBe('not-recoverable');
  expect(all.restore('9223372036854775807', change)).toBeTypeOf('object');
});

describe('a share of identifiers', () => {
  const members = (millionths: number, first?: number): number[] =>
    Array.from({ length: 300 }, (_, index) => index + 1).filter((id) => isInShare(id, millionths, first));

  test.each([
    [20_000, undefined, [50, 100, 150, 200, 250, 300]],
    [10_000, 0.7, [70, 170, 270]],
    [0, undefined, []],
  ])('of %d millionths (first at %s) is spread evenly', (millionths, first, expected) => {
    expect(members(millionths, first)).toEqual(expected);
  });

  test('of 100% is all of them', () => {
    expect(members(1_000_000)).toHaveLength(300);
  });

  test('has its exact number of members among the first million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        let count = 0;
        for (let id = 1; id <= 1_000_000; id++) if (isInShare(id, millionths)) count++;
        expect(count).toBe(millionths);
      }),
      { numRuns: 10 },
    );
  });
});
