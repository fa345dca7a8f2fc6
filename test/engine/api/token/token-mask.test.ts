import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../../../src/base/text/json.ts';
import { createTokenMask } from '../../../../src/engine/api/token/token-mask.ts';

const odd = 'a+b/c"d\\e<f>=&\'';

test.each([
  ['as it is', 'a/b+c=', 'Bearer a/b+c= is refused', 'Bearer [token] is refused'],
  ['in a URL', 'a/b+c=', '/login?t=a%2Fb%2Bc%3D&x', '/login?t=[token]&x'],
  ['in a URL in lower case', 'a/b+c=', 't=a%2fb%2bc%3d', 't=[token]'],
  [
    'in a URL in a URL',
    'a/b+c=',
    '/login?next=%2Fme%3Ft%3Da%252Fb%252Bc%253D%26x',
    '/login?next=%2Fme%3Ft%3D[token]%26x',
  ],
  ['with each character percent-encoded, twice', 'tok-1', 't=%2574%256f%256B%252D%2531.', 't=[token].'],
  ['with \\u escapes', 'tok-1', '{"t":"\\u0074\\u006F\\u006b-1"', '{"t":"[token]"'],
  ['with escapes of JavaScript', 'tok-1', "'\\x74ok\\x2D1'", "'[token]'"],
  ['in JSON in JSON', 'a"b/c', JSON.stringify(JSON.stringify({ t: 'a"b/c' })), '"{\\"t\\":\\"[token]\\"}"'],
  ['with HTML entities', 'tok+1=', '<p>&#116;&#x6F;&#x06b;&plus;1&equals;</p>', '<p>[token]</p>'],
  [
    'in a URL in an attribute, in JSON',
    'a/b+c=',
    '"href=\\"?a=1&amp;t=a%2Fb%2Bc%3D\\""',
    '"href=\\"?a=1&amp;t=[token]\\""',
  ],
  ['that looks like an escape', 'a%41b', 'a%41b, a%2541b', '[token], [token]'],
  ['in hexadecimal', 'tok-1', '746f6b2d31 and 746F6B2D31', '[token] and [token]'],
  ['in base64, percent-encoded', 'tok-1?>', 'next=dG9rLTE%2FPg%3D%3D&x', 'next=[token]&x'],
  ['twice, and what is between', 'tok-1', 'tok-1 %74ok-1, tok-1', '[token] [token], [token]'],
  ['in hexadecimal by chance, if it is short', 'abc', '616263 YWJj', '616263 YWJj'],
  ['in a piece of JSON', odd, `{"t":${JSON.stringify(odd)}`, '{"t":"[token]"'],
  ['on an HTML page', odd, 'a+b/c&quot;d\\e&lt;f&gt;=&amp;&#39;', '[token]'],
  ['not at all', 'tok-1', 'tok-2', 'tok-2'],
  ['inside words, if it is short', 'ion', 't=ion: ration, ünion, ion1', 't=[token]: ration, ünion, ion1'],
  ['of one character', 't', 'für t: not t9', 'für [token]: not t9'],
])('text that a server sent does not quote the token %s', (_title, token, text, expected) => {
  expect(createTokenMask(token).text(text)).toBe(expected);
});

describe('text that a server sent does not quote the token in base64', () => {
  const token = 'subjects?_d=~secret>>1';
  const user = (length: number) => `${'user'.slice(0, length)}:`;
  const spellings = [0, 1, 2, 3].flatMap((length) =>
    ['', '!', '!!'].flatMap((after) => {
      const bytes = Buffer.from((length === 0 ? '' : user(length)) + token + after);
      return [
        bytes.toString('base64'),
        bytes.toString('base64').replace(/=+$/, ''),
        bytes.toString('base64url'),
      ];
    }),
  );

  test.each(spellings)('%s', (spelling) => {
    const masked = createTokenMask(token).text(`Basic ${spelling}, refused`);
    expect(masked).toMatch(/^Basic [\w+/-]*\[token\][\w+/-]*=*, refused$/);
    // What is left has no byte of the token: at most the user, and what follows.
    const [before = '', after = ''] = masked.slice('Basic '.length, -', refused'.length).split('[token]');
    expect(before.length + after.length).toBeLessThanOrEqual(10);
  });

  test('with a user, who stays', () => {
    const basic = Buffer.from(`apikey:${token}`).toString('base64');
    expect(createTokenMask(token).text(`Basic ${basic}`)).toBe('Basic YXBpa2V5O[token]');
  });
});

describe('the mask of a token: JSON that a server sent', () => {
  const masked = (token: string, source: string) => createTokenMask(token).json(parseJson(source), source);

  test.each([
    ['inside a word', 'tok', '{"a":"token tok"}', { a: 'token [token]' }],
    ['by chance, as a token of one letter', 'x', '{"x":"xx"}', { x: 'xx' }],
    ['with an escaped plus', 'a+b', '{"a":"a\\u002Bb"}', { a: '[token]' }],
    ['percent-encoded', 'a+b', '{"a":"%61%2Bb"}', { a: '[token]' }],
    [
      'as a name, in base64',
      'tok-1',
      '{"dG9rLTE=":[{"x":"Basic OnRvay0x"}]}',
      { '[token]': [{ x: 'Basic O[token]' }] },
    ],
    ['in hexadecimal', 'tok-1', '{"a":["746f6b2d31"]}', { a: ['[token]'] }],
    ['with quotation marks', odd, `{"a":${JSON.stringify(odd)}}`, { a: '[token]' }],
  ])('does not quote the token %s', (_title, token, source, expected) => {
    expect(masked(token, source)).toEqual(expected);
  });

  test('keeps exact numbers, and what only looks like the token', () => {
    const source =
      '{"id":9223372036854775807,"score":1.00000000000000000001,"a":"\\u0041","__proto__":"tok"}';
    expect(stringifyJson(masked('9223372036854775807', source))).toBe(stringifyJson(parseJson(source)));
  });

  test('never quotes a token, however an API writes it', () => {
    const token = fc.string({
      minLength: 6,
      maxLength: 40,
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    });
    const hex = (character: string) => character.charCodeAt(0).toString(16);
    const ways: readonly ((text: string) => string)[] = [
      encodeURIComponent,
      (text) => text.replace(/./g, (character) => `%${hex(character)}`),
      (text) => JSON.stringify(text).slice(1, -1),
      (text) => text.replace(/./g, (character) => `\\u00${hex(character).toUpperCase()}`),
      (text) => text.replace(/[^a-z]/gi, (character) => `&#${character.charCodeAt(0)};`),
      (text) => Buffer.from(text).toString('hex'),
      (text) => Buffer.from(text).toString('base64'),
      (text) => Buffer.from(text).toString('base64url'),
    ];
    const anyWays = fc.array(fc.constantFrom(...ways.slice(0, 5)), { maxLength: 3 });
    fc.assert(
      fc.property(token, fc.constantFrom(...ways), anyWays, (secret, first, then) => {
        const written = then.reduce((text, way) => way(text), first(secret));
        expect(createTokenMask(secret).text(`(${written})`)).toBe('([token])');
      }),
    );
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
