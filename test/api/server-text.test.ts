import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxServerTextLength, serverText } from '../../src/api/server-text.ts';
import { createTokenMask } from '../../src/api/token-mask.ts';

describe('serverText', () => {
  test.each([
    ['plain text', 'evaluation 5 does not exist', 'evaluation 5 does not exist'],
    ['lines and tabs', ' a\r\n\tb\u2028c ', 'a b c'],
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a screen wipe', '\u001b[2J\u001b[Hgone', 'gone'],
    ['a NUL', 'a\u0000b', 'a b'],
    ['8-bit controls', 'a\u0085b\u009fc', 'a b c'],
    ['reversed text', 'a\u202eexe.txt\u202c', 'a exe.txt'],
    ['lone surrogates', 'a\ud800b', 'a b'],
    ['emoji and right-to-left letters', '👩‍💻 שלום', '👩‍💻 שלום'],
  ])('makes one clean line of %s', (_, text, expected) => {
    expect(serverText(text)).toBe(expected);
  });

  test('cuts long text without cutting a character in two', () => {
    const cut = serverText('😀'.repeat(400));
    expect(cut).toBe(`${'😀'.repeat(299)}…`);
    expect(serverText('😀'.repeat(300))).toBe('😀'.repeat(300));
  });

  test.each([
    ['as it is', 'token abc-def refused'],
    ['with an escape sequence in it', 'token abc\u001b[0m-def refused'],
  ])('removes a secret that stands there %s', (_, text) => {
    expect(serverText(text, createTokenMask('abc-def'))).toBe('token [token] refused');
  });

  test('leaves no half of a secret at a cut', () => {
    const text = `${' '.repeat(20 * maxServerTextLength - 4)}abc-def`;
    expect(serverText(text, createTokenMask('abc-def'))).toBe('[tok');
    expect(
      serverText(`${'x'.repeat(maxServerTextLength - 3)}abc-def`, createTokenMask('abc-def')),
    ).not.toContain('abc');
  });

  test('is short and printable whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
        const line = serverText(text);
        expect(Array.from(line).length).toBeLessThanOrEqual(maxServerTextLength);
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
