import { expect, test } from 'vitest';
import { excerpt, formatProblem } from '../../src/manifest/problem.ts';
import { parseJson } from '../../src/text/json.ts';

test.each<[value: unknown, shown: string]>([
  ['plain', 'plain'],
  ['', ''],
  [undefined, ''],
  [null, 'null'],
  [9007199254740993n, '9007199254740993'],
  [parseJson('1.00000000000000000001'), '1.00000000000000000001'],
  [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[31mred', '\\u001b[31mred'],
  ['\u202egpj.exe', '\\u202egpj.exe'],
  ['\ufeffa\u200bb', '\\ufeffa\\u200bb'],
  ['\ud800', '\\ud800'],
  ['\u{e0041}', '\\u{e0041}'],
  ['é🙂', 'é🙂'],
  ['x'.repeat(60), 'x'.repeat(60)],
  ['x'.repeat(61), `${'x'.repeat(60)}…`],
  ['🙂'.repeat(1_000_000), `${'🙂'.repeat(60)}…`],
])('a value is shown on one line, short and harmless (%#)', (value, shown) => {
  expect(excerpt(value)).toBe(shown);
});

test('a problem is told as file:line: column: problem (value)', () => {
  const row = { line: 7 };
  expect(formatProblem('a.csv', row, { column: 'Evaluation ID', problem: 'is wrong', value: 'x' })).toBe(
    'a.csv:7: Evaluation ID: is wrong (x)',
  );
  expect(formatProblem('a.csv', row, { problem: 'is wrong' })).toBe('a.csv:7: is wrong');
  expect(formatProblem('a.csv', row, { column: 'a\nb', problem: 'is wrong' })).toBe(
    'a.csv:7: a\\nb: is wrong',
  );
});
