import { expect, test } from 'vitest';
import { printable } from '../../../src/cli/render/printable.ts';

test.each([
  ['an escape sequence', '\u001b[31mred', '\\u001b[31mred'],
  ['a C1 control', '\u009b31m', '\\u009b31m'],
  ['a right-to-left override', 'a\u202eb', 'a\\u202eb'],
  ['a lone surrogate', '\ud800', '\\ud800'],
  ['a carriage return', 'safe\rhidden', 'safe\\rhidden'],
])('%s is made visible', (_title, text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('lines and letters of any script stay as they are', () => {
  const text = 'Grüße\n日本語 שלום 🎧';
  expect(printable(text)).toBe(text);
});
