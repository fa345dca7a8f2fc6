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
  ['a joined emoji, which stays', '👩‍👩‍👧', '👩‍👩‍👧'],
  ['Arabic, which stays', 'العربية', 'العربية'],
])('text of a page is shown in the order of its letters: %s', (_title, text, shown) => {
  expect(inReadingOrder(text)).toBe(shown);
});

test('printable JSON means the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const text = printableJson(stringifyJson(value));
      expect(text).not.toMatch(harmful);
      expect(stringifyJson(parseJson(text))).toBe(stringifyJson(parseJson(stringifyJson(value))));
    }),
    { examples: [[{ '\u{e0041}': '👩‍👩‍👧' }]] },
  );
});
