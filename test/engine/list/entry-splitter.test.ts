import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EntrySplitter } from '../../../src/engine/list/entry-splitter.ts';

/** What is split from a text that comes in these parts. */
function split(...parts: readonly string[]) {
  const splitter = new EntrySplitter(['sound_boards', 'soundBoards']);
  const entries = parts.flatMap((part) => splitter.push(part));
  return { entries, rest: splitter.end(), hasEntries: splitter.hasEntries };
}

test.each([
  { text: '{"sound_boards":[{"a":1},{"b":[2,"]"]}],"n":"x"}', entries: ['{"a":1}', '{"b":[2,"]"]}'] },
  { text: '{"soundBoards":[]}', entries: [] },
  { text: ')]}\',\n{"soundBoards":[4]}', entries: ['4'] },
  { text: ' { "soundBoards" : [ 1 , "a,b" ] } ', entries: [' 1 ', ' "a,b" '] },
  { text: '{"soundBoards":["\\"]"]}', entries: ['"\\"]"'] },
  { text: '{"x":{"soundBoards":[1]},"soundBoards":[2]}', entries: ['2'] },
  { text: '{"x":"soundBoards","y":[1],"soundBoards":[3]}', entries: ['3'] },
])('the entries of $text are split from what is around them', ({ text, entries }) => {
  expect(split(text)).toMatchObject({ entries, hasEntries: true });
});

test.each(['{}', '{"items":[1]}', '{"soundBoards":null}', '{"soundBoards":{"a":[1]}}', '<html>[1]'])(
  '%s has no entries',
  (text) => {
    expect(split(text)).toEqual({ entries: [], rest: text, hasEntries: false });
  },
);

test('an answer gives the same entries in whatever parts it comes', () => {
  const entry = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 3 });
  fc.assert(
    fc.property(fc.array(entry), fc.string(), fc.array(fc.nat(400)), (soundBoards, token, cuts) => {
      const text = JSON.stringify({ first: { soundBoards: [0] }, soundBoards, next: token });
      const ends = [...new Set([0, ...cuts, text.length])].sort((a, b) => a - b);
      const parts = ends.map((end, index) => text.slice(end, ends[index + 1]));
      const { entries, rest } = split(...parts);
      expect(entries.map((each) => JSON.parse(each))).toEqual(JSON.parse(JSON.stringify(soundBoards)));
      expect(JSON.parse(rest)).toEqual({ first: { soundBoards: [0] }, soundBoards: [], next: token });
    }),
  );
});

test('an answer that ends in the middle of its entries is cut off', () => {
  expect(() => split('{"soundBoards":[{"a":1},{"b"')).toThrow('it ends in the middle of its entries');
});

test('neither an entry nor the text around the entries fills the memory', () => {
  const parts = Array<string>(3).fill('x'.repeat(8 * 1024 * 1024));
  expect(() => split('{"soundBoards":["', ...parts)).toThrow('an entry is larger than 16.8 MB');
  expect(() => split('{"text":"', ...parts)).toThrow('more than 1,048,576 characters around its entries');
});
