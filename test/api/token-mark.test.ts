import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenMark } from '../../src/api/token-mark.ts';

test('a token has the same mark everywhere and always', () => {
  expect(['a', 'b', 'secret'].map(tokenMark)).toEqual(['991f', 'd9bc', 'ad46']);
});

test('a mark is four hexadecimal digits', () => {
  fc.assert(fc.property(fc.string(), (token) => /^[0-9a-f]{4}$/.test(tokenMark(token))));
});

test('a mark holds nothing of its token that could be told from chance', () => {
  const tokens = Array.from({ length: 200 }, (_, index) => `${index.toString(16).padStart(4, '0')}-secret`);
  expect(tokens.filter((token) => token.startsWith(tokenMark(token)))).toEqual([]);
  // Tokens that are alike have marks that are not.
  expect(new Set(tokens.map(tokenMark)).size).toBeGreaterThan(190);
});
