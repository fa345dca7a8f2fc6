import { describe, expect, test } from 'vitest';
import { printable } from '../../../src/base/text/printable.ts';
import { cutTo, painted, plain, styled, widthOf } from '../../../src/cli/render/style.ts';
import { table } from '../../../src/cli/render/words.ts';

const line = `a ${styled('green', '12 succeeded')}, ${styled('red', '3 failed')} z`;

describe('a styled text', () => {
  test('has colors on a screen that shows them, also after control characters were escaped', () => {
    expect(painted(printable(line))).toBe(
      'a \u001b[32m12 succeeded\u001b[39m, \u001b[31m3 failed\u001b[39m z',
    );
  });

  test('has no colors elsewhere', () => {
    expect(plain(line)).toBe('a 12 succeeded, 3 failed z');
    expect(widthOf(line)).toBe(26);
  });

  test("can't be forged without the secret", () => {
    const forged = line.replaceAll(/(?<=[\ufdd0\ufdd1])\w{4}/g, '____');
    expect(painted(forged)).toBe(forged);
  });

  test('is as wide in a table as it looks', () => {
    expect(
      table([
        [styled('red', 'x'), 'b'],
        ['long', 'c'],
      ]).map(plain),
    ).toEqual(['x     b', 'long  c']);
  });
});

test.each([
  [26, 'a 12 succeeded, 3 failed z'],
  [25, 'a 12 succeeded, 3 failed…'],
  [16, 'a 12 succeeded,…'],
  [1, '…'],
])('a line that is cut to %d columns ends with …', (columns, text) => {
  expect(plain(cutTo(columns, line))).toBe(text);
});

test('a line that is cut keeps the colors of the rest', () => {
  expect(painted(cutTo(5, line))).toBe('a \u001b[32m12\u001b[39m…');
});

test('a line that is cut never ends with half a character', () => {
  expect(cutTo(3, 'a\u{1f600}bc')).toBe('a…');
});
