import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uniqueName } from '../../../src/base/text/unique-name.ts';

const sha256 = '3f2a1b9c'.padEnd(64, '0');

test('a name is kept with a part of its digest before its ends', () => {
  expect(uniqueName('a.csv.gz', sha256)).toBe('a.3f2a1b9c.csv.gz');
});

test('different names of one content stay different, and equal names differ by content', () => {
  const name = fc.stringMatching(/^[a-c. ]{1,6}$/).filter((text) => !text.startsWith('.'));
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(uniqueName(one, sha256) === uniqueName(other, sha256)).toBe(one === other);
      expect(uniqueName(one, sha256)).not.toBe(uniqueName(one, 'a'.repeat(64)));
    }),
  );
});

test('the longest name leaves room for the files beside the manifest', () => {
  for (const [letter, kept] of [
    ['n', 217],
    ['ü', 108],
    ['🎧', 54],
  ] as const) {
    const name = `${letter.repeat(Math.floor(251 / Buffer.byteLength(letter)))}.csv`;
    expect(uniqueName(name, sha256)).toBe(`${letter.repeat(kept)}.3f2a1b9c.csv`);
  }
});
