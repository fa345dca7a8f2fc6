import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable } from '../../../src/base/text/printable.ts';
import {
  cutInTheMiddle,
  linkedText,
  screenRows,
  styled,
  widthOf,
  withColors,
  withLabels,
  withLinks,
  withoutMarks,
  wrappedLine,
} from '../../../src/cli/render/style.ts';
import { table } from '../../../src/cli/render/words.ts';

const line = `a ${styled('green', '12 succeeded')}, ${styled('red', '3 failed')} z`;

describe('a styled text', () => {
  test('has colors on a screen that shows them, also after control characters were escaped', () => {
    expect(withColors(printable(line))).toBe(
      'a \u001b[32m12 succeeded\u001b[39m, \u001b[31m3 failed\u001b[39m z',
    );
  });

  test('has no colors elsewhere', () => {
    expect(withoutMarks(line)).toBe('a 12 succeeded, 3 failed z');
    expect(widthOf(line)).toBe(26);
  });

  test('names files, as links where the terminal has them', () => {
    const files = `in ${linkedText('/runs/a b;\u001b/report.csv', 'report.csv')}, ${styled('red', 'x')}`;
    expect(withoutMarks(files)).toBe('in report.csv, x');
    expect(withColors(files)).toBe('in report.csv, \u001b[31mx\u001b[39m');
    expect(widthOf(files)).toBe(16);
    const address = 'file:///runs/a%20b;%1B/report.csv';
    const link = `\u001b]8;;${address}\u001b\\report.csv\u001b]8;;\u001b\\`;
    expect(withoutMarks(withLinks(printable(files)))).toBe(`in ${link}, x`);
    expect(wrappedLine(files, 14).map(withoutMarks)).toEqual(['in report.csv,', '  x']);
  });

  test.each([
    ['Grüße → 3', 9],
    ['日本語', 6],
    ['한국어 ok', 9],
    ['e\u0301te\u0301', 3],
    ['\u{1f600}✅', 4],
    ['████░··', 7],
    ['ｆｕｌｌ', 8],
  ])('%s takes %d columns', (text, width) => {
    expect(widthOf(styled('red', text))).toBe(width);
  });

  test.each([
    [6, '日本語の本', '日…本'],
    [7, '日本語の本', '日…本'],
    [3, '\u{1f600}a\u{1f600}b', '…b'],
  ])('is cut to %d columns without half a character', (columns, text, cut) => {
    expect(widthOf(cutInTheMiddle(columns, text))).toBeLessThanOrEqual(columns);
    expect(cutInTheMiddle(columns, text)).toBe(cut);
  });

  test("can't be forged without the secret", () => {
    const forged = line.replaceAll(/(?<=[\ufdd0\ufdd1])\w{4}/g, '____');
    expect(withColors(forged)).toBe(forged);
  });

  test('is as wide in a table as it looks', () => {
    expect(
      table([
        [styled('red', 'x'), 'b'],
        ['long', 'c'],
      ]).map(withoutMarks),
    ).toEqual(['x     b', 'long  c']);
  });
});

test.each<[string, number, string, string[]]>([
  ['that fits stays', 20, 'a few words', ['a few words']],
  ['is broken at spaces', 10, 'a few words more', ['a few', '  words', '  more']],
  ['keeps its indentation', 12, '  a few words more', ['  a few', '    words', '    more']],
  [
    'goes on below its second column',
    20,
    '  API  it is away now, again',
    ['  API  it is away', '       now, again'],
  ],
  [
    'does not go on far to the right',
    20,
    'a first column  a second word',
    ['a first column  a', '  second word'],
  ],
  ['keeps wide gaps within a line', 16, 'a  b c  d e f g h i', ['a  b c  d e f g', '   h i']],
  ['breaks a word that is too long', 8, 'see abcdefghijklm', ['see', '  abcdef', '  ghijkl', '  m']],
  [
    'cuts an address in the middle',
    22,
    'Run 7 on https://api.example.com/v1/soundboards',
    ['Run 7 on', '  https://ap…undboards'],
  ],
  ['keeps an address alone whole', 12, 'http://127.0.0.1:8788/', ['http://127.0.0.1:8788/']],
  ['keeps a command whole', 12, 'Next: cqbatch run a.csv', ['Next:', '  cqbatch run a.csv']],
  [
    'keeps a quoted command whole',
    12,
    'type "cqbatch list --json" now',
    ['type', '  "cqbatch list --json"', '  now'],
  ],
  ['breaks prose about the program', 12, 'so cqbatch cannot go on', ['so cqbatch', '  cannot go', '  on']],
])('a line %s', (_what, columns, text, lines) => {
  expect(wrappedLine(text, columns)).toEqual(lines);
});

test('a broken line keeps its colors', () => {
  expect(wrappedLine(line, 14).map(withoutMarks)).toEqual(['a 12', '  succeeded, 3', '  failed z']);
  expect(withColors(wrappedLine(line, 14).join('\n'))).toBe(
    'a \u001b[32m12\n  succeeded\u001b[39m, \u001b[31m3\n  failed\u001b[39m z',
  );
});

test.each([
  [80, 2],
  [26, 2],
  [25, 3],
  [10, 4],
])('on a screen of %d columns, a line of 26 and an empty one take %d rows', (columns, rows) => {
  expect(screenRows([line, ''], columns)).toBe(rows);
});

test.each([
  [30, 'https://api.example.com/v1'],
  [20, 'https://ap…le.com/v1'],
  [2, 'h…'],
  [1, '…'],
])('an address that is cut to %d columns keeps both of its ends', (columns, text) => {
  expect(cutInTheMiddle(columns, 'https://api.example.com/v1')).toBe(text);
});

test('a character of two units is never cut into halves', () => {
  expect(cutInTheMiddle(4, '\u{1f600}\u{1f600}\u{1f600}')).toBe('\u{1f600}…');
});

const anyText = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '  ', 'cqbatch ', '"', ':'),
  maxLength: 60,
});

test('breaking a line loses no word', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 4, max: 40 }), (text, columns) => {
      const letters = (each: string) => each.replaceAll(' ', '');
      expect(letters(wrappedLine(text, columns).join(''))).toBe(letters(text));
    }),
  );
});

test('the words that say what a line is have their colors', () => {
  expect(withColors(withLabels('error: no\nwarning: so\nSent. Next: go\nan error: x'))).toBe(
    '\u001b[1;31merror:\u001b[22;39m no\n\u001b[1;33mwarning:\u001b[22;39m so\nSent. \u001b[1mNext:\u001b[22m go\nan error: x',
  );
});
