import { expect, test } from 'vitest';
import { inboxPlace } from '../../../src/daemon/inbox/names.ts';

const strange = ['README.md', 'report.pdf'];
const all = [
  'week 47.csv',
  'Ä🎧.JSON',
  'a.tsv',
  'b.jsonl',
  'c.ndjson',
  'd.csv.gz',
  'e.xlsx',
  'f.txt',
  'g.TAB',
];

test.each([
  ['a folder', 'in', true, all],
  ['a pattern', 'in/*.csv', false, ['week 47.csv']],
  ['another pattern', 'in/{a,d}.*', false, ['a.tsv', 'd.csv.gz']],
  ['one name', 'in/a.tsv', false, ['a.tsv']],
] as const)('%s means these files', (_what, path, isFolder, names) => {
  const others = ['.hidden.csv', 'a.csv.part', 'b.CSV.TMP', 'c.csv.filepart', '~$e.xlsx', ...strange];
  const { folder, matches, whyIgnored } = inboxPlace(path, isFolder);
  expect(folder).toBe('in');
  expect([...all, ...others].filter(matches)).toEqual(names);
  // A pattern says which files are meant.
  expect([...all, ...others].filter((name) => whyIgnored(name) !== undefined)).toEqual(
    isFolder ? strange : [],
  );
});

test('a pattern without a folder means the current one', () => {
  expect(inboxPlace('*.csv', false).folder).toBe('.');
});

test('a pattern and a name match however their letters are encoded, as in uploads from macOS', () => {
  const names = ['Verträge 47.csv', 'Verträge 47.csv'.normalize('NFD'), 'Vertrage.csv'];
  for (const form of ['NFC', 'NFD'])
    expect(names.filter(inboxPlace('in/Verträge*.csv'.normalize(form), false).matches)).toEqual(
      names.slice(0, 2),
    );
});
