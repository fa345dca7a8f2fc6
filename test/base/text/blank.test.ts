import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasUnseen, isBlank, trimBlanks } from '../../../src/base/text/blank.ts';

test.each(['\u200b', '\u200d', '\u200e', '\u202e', '\u2066', '\ufeff', '\u00ad', '\u00a0', ' \t\u200b '])(
  '%j is a blank at the edges, and not inside',
  (mark) => {
    expect([trimBlanks(`${mark}a${mark}b${mark}`), isBlank(mark)]).toEqual([`a${mark}b`, true]);
  },
);

test.each([['a\u200bb', true]])('%j has a character that you cannot see: %s', (text, expected) => {
  expect(hasUnseen(text)).toBe(expected);
});

test('what is visible stays', () => {
  const visible = fc.string({ unit: fc.constantFrom('a', 'é', '\u200b', ' ', '👩', '\n') });
  fc.assert(
    fc.property(visible, (text) => {
      expect(trimBlanks(text)).toBe(text.replace(/^[\s\u200b]+/, '').replace(/[\s\u200b]+$/, ''));
    }),
  );
});
