import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardCell, unguardCell } from '../../src/manifest/formula-guard.ts';

test.each<[text: string, guarded: string]>([
  ['=cmd()', "'=cmd()"],
  ['+1+1', "'+1+1"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['\n=1', "'\n=1"],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠x', "'＠x"],
  ["'=1", "''=1"],
  ["''=1", "'''=1"],
  ['-', "'-"],
  ['-1e5', "'-1e5"],
  ['-1-2', "'-1-2"],
  ['-12.5', '-12.5'],
  ['+49', '+49'],
  ['-1,5', '-1,5'],
  ["'-12.5", "''-12.5"],
  ['', ''],
  ["'", "'"],
  ["it's", "it's"],
  ['a=1', 'a=1'],
  [' =1', ' =1'],
  ['<clear>', '<clear>'],
])('%j is written as %j and read back', (text, guarded) => {
  expect(guardCell(text)).toBe(guarded);
  expect(unguardCell(guarded)).toBe(text);
});

test.each<[text: string, guarded: string]>([
  ['<clear>', "'<clear>"],
  ["'<clear>", "''<clear>"],
  ['<clear>x', '<clear>x'],
  ['=x', "'=x"],
])('with a clear token %j is written as %j and read back', (text, guarded) => {
  expect(guardCell(text, { clearToken: '<clear>' })).toBe(guarded);
  expect(unguardCell(guarded, { clearToken: '<clear>' })).toBe(text);
});

const pieces = fc.constantFrom(
  "'",
  '=',
  '+',
  '-',
  '@',
  '\t',
  '\r',
  '\n',
  '＝',
  '1',
  '.',
  ',',
  '<clear>',
  'x',
  ' ',
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
);
const options = fc.oneof(
  fc.constant({}),
  fc
    .oneof(fc.constantFrom('<clear>', '-', "'", '=1', '-1', "''"), text)
    .map((clearToken) => ({ clearToken })),
);

test('unguarding gives back any text', () => {
  fc.assert(
    fc.property(text, options, (each, using) => {
      expect(unguardCell(guardCell(each, using), using)).toBe(each);
    }),
    { numRuns: 5000 },
  );
});

test('no two texts are guarded alike, and none like the bare clear token', () => {
  fc.assert(
    fc.property(text, text, options, (one, other, using) => {
      if (one !== other) expect(guardCell(one, using)).not.toBe(guardCell(other, using));
      const clearToken = 'clearToken' in using ? using.clearToken : undefined;
      if (clearToken) expect(guardCell(clearToken, using)).not.toBe(clearToken);
    }),
    { numRuns: 5000 },
  );
});

test('what begins like a formula after guarding is a plain number', () => {
  fc.assert(
    fc.property(text, options, (each, using) => {
      const guarded = guardCell(each, using);
      if (/^[=+\-@\t\r\n＝＋－＠]/.test(guarded)) expect(guarded).toMatch(/^[+-]?\d+([.,]\d+)?$/);
    }),
    { numRuns: 5000 },
  );
});
