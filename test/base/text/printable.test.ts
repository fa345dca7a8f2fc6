import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../../src/base/text/json.ts';
import {
  escapeInvisible,
  inReadingOrder,
  printable,
  printableJson,
} from '../../../src/base/text/printable.ts';
import { anyCharacter } from '../../any-character.ts';

test('lines and letters of any script stay unchanged', () => {
  const text = 'Grüße\n日本語 שלום 🎧';
  expect(printable(text)).toBe(text);
});

const harmful = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const anyText = fc.string({ unit: anyCharacter });

test('no text contains anything on which a terminal acts, and one line stays one line', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(printable(text)).not.toMatch(harmful);
      expect(printable(text).split('\n')).toHaveLength(text.split('\n').length);
      expect(escapeInvisible(text)).not.toMatch(/\n/);
    }),
  );
});

test.each([
  ['a right-to-left override', 'file\u202egpj.exe', 'file\\u202egpj.exe'],
  ['a control', 'a\u0007b', 'a\\u0007b'],
  ['a tab and a line feed, which stay', 'a\tb\nc', 'a\tb\nc'],
  ['a joined emoji, which stays', '👩‍👩‍👧', '👩‍👩‍👧'],
  ['Arabic, which stays', 'العربية', 'العربية'],
])('text of a page is shown in the order of its letters: %s', (_title, text, shown) => {
  expect(inReadingOrder(text)).toBe(shown);
});

test.each(['\u009b31m', '\u2028', '\u{e0041}', '👩‍👩‍👧'])(
  'JSON with %j is printable and means the same',
  (value) => {
    const text = printableJson(JSON.stringify({ [value]: value }));
    expect(text).not.toMatch(harmful);
    expect(JSON.parse(text)).toEqual({ [value]: value });
  },
);

test('printable JSON means the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const text = printableJson(stringifyJson(value));
      expect(text).not.toMatch(harmful);
      expect(stringifyJson(parseJson(text))).toBe(stringifyJson(parseJson(stringifyJson(value))));
    }),
  );
});
