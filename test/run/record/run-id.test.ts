import { describe, expect, test } from 'vitest';
import { idsMeantBy, isRunId, newRunId } from '../../../src/run/record/run-id.ts';

describe('run ids', () => {
  test('sort by time', () => {
    const ids = [0, 1_000, 60_000, 86_400_000, 40_000_000_000].map((time) => newRunId(new Date(time)));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every(isRunId)).toBe(true);
  });

  test.each([
    '',
    '..',
    '../../etc',
    '20260101-000000-AAAA',
    'con',
    'nul',
    'aux',
    'prn',
    'com1',
    'lpt9',
    'x/y',
  ])('are not %j', (text) => {
    expect(isRunId(text)).toBe(false);
  });

  test.each(['console', 'nul-1', 'com', 'com10', 'week-47'])('are %j', (text) => {
    expect(isRunId(text)).toBe(true);
  });

  test.each([
    ['a', ['a']],
    ['b', ['ab', 'abc']],
    ['bc', ['abc']],
    ['x', []],
    ['', []],
  ])('are found by a part of them, or by the whole id: %j', (text, meant) => {
    expect(idsMeantBy(text, ['a', 'ab', 'abc'])).toEqual(meant);
  });
});
