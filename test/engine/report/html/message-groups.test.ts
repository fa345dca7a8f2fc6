import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageGroups } from '../../../../src/engine/report/html/message-groups.ts';
import { resultOf } from '../../journal/arbitraries.ts';

const failed = { outcome: 'failed', code: 'NOT_FOUND' } as const;

function groupsOf(messages: readonly string[], isUnclear = (_row: number) => false) {
  const groups = new MessageGroups();
  for (const [index, message] of messages.entries())
    groups.add(resultOf(index + 1, { ...failed, message, unclear: isUnclear(index + 1) }));
  return groups.all();
}

test('groups count rows by outcome, code and message, most frequent first', () => {
  const messages = ['row 1 is gone', 'row 2 is lost', 'row 33 is lost'];
  expect(groupsOf(messages, (row) => row === 2)).toEqual([
    {
      ...failed,
      kind: 'row … is lost',
      message: 'row … is lost',
      example: { row: 2, message: 'row 2 is lost' },
      count: 2,
      unclear: 1,
    },
    { ...failed, kind: 'row … is gone', message: 'row 1 is gone', count: 1, unclear: 0 },
  ]);
});

test.each<readonly [messages: readonly string[], common: string]>([
  [
    ['The server answered 200 to row 1', 'The server answered 200 to row 2'],
    'The server answered 200 to row …',
  ],
  [
    ['retention of 30 days ended on 2026-10-01', 'retention of 30 days ended on 2026-10-02'],
    'retention of 30 days ended on …',
  ],
  [
    ['user_id: must match ^[a-z0-9_.-]{1,64}$', 'user_id: must match ^[a-z0-9_.-]{1,64}$'],
    'user_id: must match ^[a-z0-9_.-]{1,64}$',
  ],
  [['transaction 12a was aborted', 'transaction 3 was aborted'], 'transaction … was aborted'],
  [['1 of 2', '1 of 3', '1 of 2'], '1 of …'],
])('of %j, what is common stays', (messages, common) => {
  expect(groupsOf(messages).map(({ message }) => message)).toEqual([common]);
});

test('twenty messages with twenty hexadecimal identifiers are one group', () => {
  const ids = Array.from({ length: 20 }, (_, row) => (0xdead_0000 + row * 7_919).toString(16));
  expect(groupsOf(ids.map((id) => `session ${id} has ended`))).toHaveLength(1);
});

test('a code has at most nine groups: rarer messages are counted together', () => {
  const words = Array.from({ length: 26 }, (_, place) => String.fromCharCode(97 + place));
  const messages = words.flatMap((word, place) => Array.from({ length: place < 8 ? 2 : 1 }, () => word));
  const groups = groupsOf(messages, (row) => row === messages.length);
  expect(groups).toHaveLength(9);
  expect(groups.at(-1)).toEqual({ ...failed, kind: '', message: '', count: 18, unclear: 1, isRest: true });
  expect(groupsOf(words.slice(0, 9)).at(-1)?.message).toBe('i');
});

test('a message is shown if it is frequent, even if many others came first', () => {
  const rare = Array.from({ length: 150 }, (_, row) => 'x '.repeat(row % 150));
  const frequent = Array.from({ length: 700 }, (_, row) => `transaction ${row}a was aborted`);
  const [first, ...others] = groupsOf([...rare, ...frequent]);
  expect(first).toMatchObject({ message: 'transaction … was aborted', count: 700 });
  expect(others.at(-1)).toMatchObject({ isRest: true, count: 143 });
});

test('hostile messages need bounded memory, and their counts add up', () => {
  const hostile = Array.from({ length: 5_000 }, (_, row) =>
    row % 2 === 0 ? `${'a'.repeat(row)} ${'7 '.repeat(5_000)}` : `${'9'.repeat(10_000)}${'b '.repeat(row)}`,
  );
  const groups = groupsOf(hostile);
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
  expect(JSON.stringify(groups).length).toBeLessThan(40_000);
});

test('the groups of a code add up to its rows, whatever the messages', () => {
  const anyWord = fc.constantFrom('', 'row', '1', '2', 'deadbeef', '…', 'is', 'lost', 'x'.repeat(200));
  const anyMessage = fc.array(anyWord, { maxLength: 6 }).map((words) => words.join(' '));
  const anyLine = fc.record({
    outcome: fc.constantFrom('failed', 'succeeded' as const),
    code: fc.constantFrom('ABORTED', 'NOT_FOUND'),
    message: anyMessage,
    unclear: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 1_500, size: 'max' }), (lines) => {
      const counter = new MessageGroups();
      for (const [index, line] of lines.entries()) counter.add(resultOf(index + 1, line));
      const groups = counter.all();
      for (const { outcome, code } of lines) {
        const isOfCode = (each: { readonly outcome: string; readonly code: string }): boolean =>
          each.outcome === outcome && each.code === code;
        const [wanted, counted] = [lines.filter(isOfCode), groups.filter(isOfCode)];
        expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(wanted.length);
        expect(counted.reduce((sum, { unclear }) => sum + unclear, 0)).toBe(
          wanted.filter(({ unclear }) => unclear).length,
        );
      }
    }),
    { numRuns: 30 },
  );
});
