import { describe, expect, test } from 'vitest';
import { idsMeantBy, isRunId, newRunId } from '../../src/run/run-id.ts';

describe('run ids', () => {
  test('sort by time', () => {
    const ids = [0, 1_000, 60_000, 86_400_000, 40_000_000_000].map((time) => newRunId(new Date(time)));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every(isRunId)).toBe(true);
  });

  test.each(['', '..', '../../etc', '20260101-000000-AAAA', '20260101-000000-aaaa/x'])(
    'are not %j',
    (text) => {
      expect(isRunId(text)).toBe(false);
    },
  );

  test.each([
    ['a', ['a']],
    ['b', ['ab', 'abc']],
    ['bc', ['abc']],
    ['x', []],
    ['', []],
  ])('are meant by a part of them, or by all of one: %j', (text, meant) => {
    expect(idsMeantBy(text, ['a', 'ab', 'abc'])).toEqual(meant);
  });
});
