import { expect, test } from 'vitest';
import { MessageGroups, messagePattern } from '../../../../src/engine/report/html/message-groups.ts';
import { resultOf } from '../../journal/arbitraries.ts';

test.each([
  ['evaluation 17 is not deleted', 'evaluation N is not deleted'],
  ['user u-17 of 3f2b8c1e-0a4d-4c58-9d1a-5b6c7d8e9f00', 'user u-N of N'],
  ['no number', 'no number'],
  [`evaluation 123 ${'x'.repeat(400)}`, `evaluation N ${'x'.repeat(287)}`],
  ['😀'.repeat(400), '😀'.repeat(300)],
])('the pattern of "%s" is "%s"', (message, pattern) => {
  expect(messagePattern(message)).toBe(pattern);
});

test('groups count rows by outcome, code and message, most frequent first', () => {
  const groups = new MessageGroups();
  const add = (row: number, message: string, unclear: boolean): void =>
    groups.add(resultOf(row, { outcome: 'failed', code: 'NOT_FOUND', message, unclear }));
  add(1, 'row 1 is gone', false);
  add(2, 'row 2 is lost', true);
  add(3, 'row 33 is lost', false);
  const failed = { outcome: 'failed', code: 'NOT_FOUND' };
  expect(groups.all()).toEqual([
    { ...failed, message: 'row N is lost', count: 2, unclear: 1 },
    { ...failed, message: 'row N is gone', count: 1, unclear: 0 },
  ]);
});

test('rare messages of a code share a group, so that memory is limited and the counts add up', () => {
  const groups = new MessageGroups();
  for (let row = 1; row <= 1_000; row++)
    groups.add(resultOf(row, { code: 'UNKNOWN', message: 'x'.repeat(row % 250) }));
  const all = groups.all();
  expect(all.length).toBeLessThanOrEqual(101);
  expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
});
