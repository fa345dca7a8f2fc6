import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxServerTextLength, serverText } from '../../../src/engine/api/failure.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';
import { anyCharacter } from '../../any-character.ts';

describe('serverText', () => {
  test.each([
    ['plain text', 'evaluation 5 does not exist', 'evaluation 5 does not exist'],
    ['lines and tabs', ' a\r\n\tb\u2028c ', 'a b c'],
    ['emoji and right-to-left letters', '👩‍💻 שלום', '👩‍💻 שלום'],
  ])('makes one clean line of %s', (_, text, expected) => {
    expect(serverText(text)).toBe(expected);
  });

  test('shortens long text without splitting a character', () => {
    const cut = serverText('😀'.repeat(400));
    expect(cut).toBe(`${'😀'.repeat(299)}…`);
    expect(serverText('😀'.repeat(300))).toBe('😀'.repeat(300));
  });

  test('removes a secret with an escape sequence in it', () => {
    const text = 'token abc\u001b[0m-def refused';
    expect(serverText(text, createTokenMask('abc-def'))).toBe('token [token] refused');
  });

  test('leaves no part of a secret where it is shortened', () => {
    const text = `${' '.repeat(20 * maxServerTextLength - 4)}abc-def`;
    expect(serverText(text, createTokenMask('abc-def'))).toBe('[tok');
    const long = `${'x'.repeat(maxServerTextLength - 3)}abc-def`;
    expect(serverText(long, createTokenMask('abc-def'))).not.toContain('abc');
  });

  test('is short and printable for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 2000 }), (text) => {
        const line = serverText(text);
        expect(Array.from(line).length).toBeLessThanOrEqual(maxServerTextLength);
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
