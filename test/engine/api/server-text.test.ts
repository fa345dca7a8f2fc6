import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../../src/base/text/json.ts';
import { createTokenMask, maxServerTextLength, serverText } from '../../../src/engine/api/server-text.ts';
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

const odd = 'a+b/c"d\\e<f>=&\'';

test.each([
  ['as it is', 'a/b+c=', 'Bearer a/b+c= is refused', 'Bearer [token] is refused'],
  ['in a URL', 'a/b+c=', '/login?t=a%2Fb%2Bc%3D&x', '/login?t=[token]&x'],
  ['in a piece of JSON', odd, `{"t":${JSON.stringify(odd)}`, '{"t":"[token]"'],
  ['on an HTML page', odd, 'a+b/c&quot;d\\e&lt;f&gt;=&amp;&#39;', '[token]'],
  ['not at all', 'tok-1', 'tok-2', 'tok-2'],
  ['inside words, if it is short', 'ion', 't=ion: ration, ünion, ion1', 't=[token]: ration, ünion, ion1'],
  ['of one character', 't', 'für t: not t9', 'für [token]: not t9'],
])('text that a server sent does not quote the token %s', (_title, token, text, expected) => {
  expect(createTokenMask(token).text(text)).toBe(expected);
});

describe('the mask of a token: JSON that a server sent', () => {
  const masked = (token: string, source: string) => createTokenMask(token).json(parseJson(source), source);

  test.each([
    ['inside a word', 'tok', '{"a":"token tok"}', { a: 'token [token]' }],
    ['by chance, as a token of one letter', 'x', '{"x":"xx"}', { x: 'xx' }],
    ['with an escaped plus', 'a+b', '{"a":"a\\u002Bb"}', { a: '[token]' }],
    ['with quotation marks', odd, `{"a":${JSON.stringify(odd)}}`, { a: '[token]' }],
  ])('does not quote the token %s', (_title, token, source, expected) => {
    expect(masked(token, source)).toEqual(expected);
  });

  test('keeps exact numbers, and what only looks like the token', () => {
    const source =
      '{"id":9223372036854775807,"score":1.00000000000000000001,"a":"\\u0041","__proto__":"tok"}';
    expect(stringifyJson(masked('9223372036854775807', source))).toBe(stringifyJson(parseJson(source)));
  });

  test('never quotes a token, and leaves text without it unchanged', () => {
    const token = fc.string({ minLength: 4, unit: fc.constantFrom(...'aB1+/=.~"\\<&') });
    fc.assert(
      fc.property(token, fc.jsonValue(), fc.string(), (secret, value, around) => {
        fc.pre(!'[token]'.includes(secret));
        const plain = stringifyJson(value);
        fc.pre(!plain.includes(JSON.stringify(secret).slice(1, -1)));
        expect(stringifyJson(masked(secret, plain))).toBe(stringifyJson(parseJson(plain)));
        const quoting = stringifyJson({ [secret]: [value, { a: `${around}${secret}` }] });
        expect(stringifyJson(masked(secret, quoting))).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });
});
