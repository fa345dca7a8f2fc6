import { expect, test } from 'vitest';
import { hitPattern, textFromHit } from '../../../../src/pages/browser/table/search-hits.ts';

const hitsIn = (text: string, q: string) => text.match(hitPattern(q) ?? /(?!)/);

test('a search marks each word, and words in quotes together', () => {
  expect(hitsIn('Reset, then RESET again', 'reset')).toEqual(['Reset', 'RESET']);
  expect(hitsIn('a then b', '"a then" b')).toEqual(['a then', 'b']);
  expect(hitsIn('1+1 (one)', '1+1 (one)')).toEqual(['1+1', '(one)']);
});

test('the longest of several words that fit is marked', () => {
  expect(hitsIn('reset', 'res reset')).toEqual(['reset']);
});

test('a search without words marks nothing', () => {
  expect(hitPattern('  ')).toBeUndefined();
});

test.each([
  ['as it is, if the hit is in sight', 'was reset', 'was reset'],
  ['from shortly before a hit beyond the edge', 'the connection to the node was reset', '…node was reset'],
  ['inside a long word', `${'x'.repeat(40)}reset`, `…${'x'.repeat(12)}reset`],
  ['as it is without a hit', 'the connection to the node was closed', undefined],
])('a text is shown %s', (_, text, shown = text) => {
  const hits = hitPattern('reset');
  if (hits === undefined) throw new Error('no hits');
  expect(textFromHit(text, hits, 20)).toBe(shown);
});
