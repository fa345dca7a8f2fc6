import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardCell, unguardCell } from '../../../src/base/text/formula-guard.ts';
import { anyCharacter } from '../../any-character.ts';

const blanks = [...'\0 \u00a0\u2003\u3000\u200b\ufeff\u00ad\u2060\u202e\u3164', '\0\u200b \ufeff\0'];

test('a text that begins like a formula gets an apostrophe, also behind blanks and what you cannot see', () => {
  for (const sign of '=+-@＝＋－＠﹦﹣') {
    for (const blank of ['', ...blanks]) {
      const text = `${blank}${sign}x`;
      expect([guardCell(text), unguardCell(`'${text}`)]).toEqual([`'${text}`, text]);
    }
  }
});

test.each<[text: string, guarded: string]>([
  ['\t=1', "'\t'=1"],
  ['-', "'-"],
  ['-12.5', '-12.5'],
  ['"=1"', `'"=1"`],
  ['a\r\n=1', "a\r'\n'=1"],
  ['a; \u200b=1', "a;' \u200b=1"],
  ['a,=1', 'a,=1'],
])('%j is written as %j and read back', (text, guarded) => {
  expect(guardCell(text)).toBe(guarded);
  expect(unguardCell(guarded)).toBe(text);
});

test.each<[text: string, clearToken: string, guarded: string]>([
  ['<clear>', '<clear>', "'<clear>"],
  ['a;=b', "a;'=b", "'a;'=b"],
])('%j is not mistaken for the clear token %j', (text, clearToken, guarded) => {
  expect(guardCell(text, { clearToken })).toBe(guarded);
  expect(unguardCell(guarded, { clearToken })).toBe(text);
});

const pieces = fc.constantFrom(...`'=+-@\t\r\n＝;|"\0\u200b1.,x `, '<clear>');
const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
);
const options = fc.record(
  {
    clearToken: fc.oneof(fc.constantFrom('<clear>', '-', "'", '=1', '-1', "''", "'=1", "x;'=", "x,'="), text),
    commas: fc.boolean(),
  },
  { requiredKeys: [] },
);

test('unguarding restores any text', () => {
  fc.assert(
    fc.property(text, options, (each, using) => {
      expect(unguardCell(guardCell(each, using), using)).toBe(each);
    }),
    { numRuns: 1500 },
  );
});

test('no text is guarded like the bare clear token', () => {
  fc.assert(
    fc.property(text, options, (each, using) => {
      const { clearToken } = using;
      fc.pre(Boolean(clearToken));
      for (const one of [each, clearToken]) expect(guardCell(one ?? '', using)).not.toBe(clearToken);
    }),
    { numRuns: 1500 },
  );
});

test('wherever a program splits it, no piece begins like a formula, except a plain number as a whole', () => {
  fc.assert(
    fc.property(
      text,
      options,
      fc.constantFrom(/;/, /\|/, /\t/, /[\r\n]/, /[;|\t\r\n]/, /,/, /[,;|\t\r\n]/),
      (each, using, cuts) => {
        const guarded = guardCell(each, { ...using, commas: using.commas || cuts.test(',') });
        if (/^[+-]?\d+([.,]\d+)?$/.test(guarded)) return;
        for (const piece of guarded.split(cuts)) {
          expect(piece.replace(/^[\s\p{Cc}\p{Cf}"]+/u, '')).not.toMatch(/^[=+\-@＝]/);
        }
      },
    ),
    { numRuns: 1500 },
  );
});

test.each([' ', '\0', '\t', ';', ' ;', "'", '"', '\t;|'])(
  'a cell of a million times %j is scanned only a few times',
  (unit) => {
    const long = `x${unit.repeat(1_000_000)}`;
    // Quadratic work would take hours.
    expect(unguardCell(guardCell(long))).toBe(long);
    expect(unguardCell(guardCell(`${long}=`))).toBe(`${long}=`);
  },
);
