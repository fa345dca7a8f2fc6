import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inboxPlace, uniqueName } from '../../src/inbox/names.ts';

const sha256 = '3f2a1b9c'.padEnd(64, '0');

test.each([
  [
    'a folder',
    'in',
    true,
    ['week 47.csv', 'Ä🎧.JSON', 'a.tsv', 'b.jsonl', 'c.ndjson', 'd.csv.gz', 'e.xlsx', 'f.txt'],
  ],
  ['a pattern', 'in/*.csv', false, ['week 47.csv']],
  ['another pattern', 'in/{a,d}.*', false, ['a.tsv', 'd.csv.gz']],
  ['one name', 'in/a.tsv', false, ['a.tsv']],
] as const)('%s means these files', (_what, path, isFolder, names) => {
  const all = ['week 47.csv', 'Ä🎧.JSON', 'a.tsv', 'b.jsonl', 'c.ndjson', 'd.csv.gz', 'e.xlsx', 'f.txt'];
  const others = [
    '.hidden.csv',
    'a.csv.part',
    'b.CSV.TMP',
    'c.csv.filepart',
    '~$e.xlsx',
    'README.md',
    'report.pdf',
  ];
  const { folder, matches, whyIgnored } = inboxPlace(path, isFolder);
  expect(folder).toBe('in');
  expect([...all, ...others].filter(matches)).toEqual(names);
  // A pattern says which files are meant.
  expect([...all, ...others].filter((name) => whyIgnored(name) !== undefined)).toEqual(
    isFolder ? ['README.md', 'report.pdf'] : [],
  );
});

test('a pattern without a folder means the current one', () => {
  expect(inboxPlace('*.csv', false).folder).toBe('.');
});

test.each([
  ['week 47.csv', 'week 47.3f2a1b9c.csv'],
  ['a.csv.gz', 'a.3f2a1b9c.csv.gz'],
  ['v1.2.json', 'v1.2.3f2a1b9c.json'],
  ['noext', 'noext.3f2a1b9c'],
  ['🎧.xlsx', '🎧.3f2a1b9c.xlsx'],
])('%s is kept as %s', (name, unique) => {
  expect(uniqueName(name, sha256)).toBe(unique);
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
