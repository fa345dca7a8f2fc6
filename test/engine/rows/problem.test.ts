import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/base/text/json.ts';
import { excerpt, formatProblem, ProblemGroups, positionText } from '../../../src/engine/rows/problem.ts';

test.each<[value: unknown, shown: string]>([
  [undefined, ''],
  [null, 'null'],
  [9007199254740993n, '9007199254740993'],
  [parseJson('1.00000000000000000001'), '1.00000000000000000001'],
  [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u202egpj.exe', '\\u202egpj.exe'],
  ['\u{e0041}', '\\u{e0041}'],
  ['x'.repeat(61), `${'x'.repeat(60)}…`],
  ['🙂'.repeat(1_000_000), `${'🙂'.repeat(60)}…`],
])('a value is shown on one line, short and harmless (%#)', (value, shown) => {
  expect(excerpt(value)).toBe(shown);
});

test('a problem is written as file:line: row, column: problem (value)', () => {
  const row = { row: 6, line: 7 };
  const text = (more: object) => formatProblem('a.csv', row, { problem: 'is wrong', ...more });
  expect(text({ column: 'Evaluation ID', value: 'x' })).toBe('a.csv:7: row 6, Evaluation ID: is wrong (x)');
  expect(text({})).toBe('a.csv:7: row 6: is wrong');
  expect(text({ column: 'a\nb' })).toBe('a.csv:7: row 6, a\\nb: is wrong');
});

function group(rows: readonly (readonly [row: number, problem: string, line?: number])[]) {
  const groups = new ProblemGroups();
  for (const [row, problem, line = row + 1] of rows) groups.add({ row, line }, { problem });
  return groups;
}

test('equal problems of consecutive rows are one range', () => {
  const after = [3, 'a', 6] as const;
  const { groups } = group([[1, 'a'], [2, 'a', 5], [2, 'b', 5], after, [5, 'a', 8]]);
  const shown = groups.map(({ problem, rows, stretches }) => {
    const texts = stretches.map((ends) => ends.map(positionText).join(' to '));
    return `${rows} ${problem}: ${texts.join('; ')}`;
  });
  expect(shown).toEqual([
    '4 a: row 1, line 2 to row 3, line 6; row 5, line 8 to row 5, line 8',
    '1 b: row 2, line 5 to row 2, line 5',
  ]);
  expect(groups.map(({ hasMore }) => hasMore)).toEqual([false, false]);
});

test('a million broken rows are not kept in memory, however they differ', () => {
  const alternate = group(Array.from({ length: 1000 }, (_, index) => [index * 2 + 1, 'a']));
  const stretches = [1, 3, 5].map((row) => Array(2).fill({ row, line: row + 1 }));
  expect(alternate.groups).toMatchObject([{ rows: 1000, hasMore: true, stretches }]);
  const different = group(Array.from({ length: 1000 }, (_, index) => [index + 1, `problem ${index}`]));
  expect(different.groups).toHaveLength(50);
});

test('no problem is lost in the counts', () => {
  const problem = fc.tuple(fc.nat(3), fc.constantFrom('a', 'b', 'c'));
  fc.assert(
    fc.property(fc.array(problem), (steps) => {
      let row = 1;
      const rows = steps.map(([step, text]) => {
        row += step + 1;
        return [row, text] as const;
      });
      const { groups } = group(rows);
      expect(groups.reduce((sum, each) => sum + each.rows, 0)).toBe(rows.length);
      for (const { problem: text, stretches } of groups) {
        const lines = rows.filter(([, each]) => each === text).map(([each]) => each + 1);
        for (const [from, to] of stretches) {
          for (let { line } = from; line <= to.line; line++) expect(lines).toContain(line);
        }
      }
    }),
  );
});
