import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatByName, formats, formatTitles, manifestNames } from '../../../src/engine/manifest/formats.ts';
import type { TextBeginning } from '../../../src/engine/manifest/manifest-format.ts';

/** The text formats that take a text for their own. */
function fitting(given: Pick<TextBeginning, 'text' | 'hint'> & Partial<TextBeginning>): readonly string[] {
  const beginning: TextBeginning = {
    source: { path: 'a', name: 'a', gzip: false, bomLength: 0, start: 0, firstLine: 1 },
    isComplete: true,
    preamble: { length: 0, lines: 0 },
    rowsAt: undefined,
    ...given,
  };
  return formats.flatMap((format) => (format.kind === 'text' && format.magic(beginning) ? format.name : []));
}

describe('a text', () => {
  test.each([
    ['a,b\n1,2\n', undefined, 'csv'],
    ['a\tb\n1\t2\n', undefined, 'tsv'],
    ['a\n1\n', 'tsv', 'tsv'],
    ['a\n1\n', 'csv', 'csv'],
    ['[{"a":1}]', undefined, 'json'],
    ['{"rows":[]}', undefined, 'json'],
    ['{"a":1}\n{"a":2}\n', undefined, 'jsonl'],
    ['{"a":1}\n{"a":2}\n', 'csv', 'jsonl'],
    ['{"a":\n1}\n', 'jsonl', 'json'],
    ['{"a":1}\n', 'jsonl', 'jsonl'],
    ['[id],b\n1,2\n', 'csv', 'csv'],
    ['a,b\n', 'json', 'json'],
  ])('%j in a file that is called %s is %s', (text, hint, name) => {
    expect(fitting({ text, hint })).toEqual([name]);
  });

  test('is an object with rows if the user says where they are', () => {
    expect(fitting({ text: '{"a":[]}\n{"a":2}\n', hint: 'jsonl', rowsAt: 'a' })).toEqual(['json']);
  });

  test('below other lines is delimited', () => {
    const preamble = { length: 5, lines: 1 };
    expect(fitting({ text: '{"a":1}\n{"a":2}\n', hint: 'jsonl', preamble })).toEqual(['csv']);
  });

  test('has exactly one format, whatever it is', () => {
    const hints = fc.constantFrom(undefined, ...formats.map(({ name }) => name));
    const piece = fc.constantFrom('{', '}', '[', ']', '"', 'a', '1', ',', ';', '\t', '\n', ' ', ':');
    const texts = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => `${pieces.join('')}x`);
    const paths = fc.constantFrom(undefined, 'a');
    fc.assert(
      fc.property(texts, hints, paths, (text, hint, rowsAt) => {
        expect(fitting({ text, hint, rowsAt })).toHaveLength(1);
      }),
    );
  });
});

test.each([
  ['rows.csv', 'csv'],
  ['rows.2026.TXT', 'csv'],
  ['rows.tab.gz', 'tsv'],
  ['rows.ndjson', 'jsonl'],
  ['rows.XLSX', 'xlsx'],
  ['rows', undefined],
  ['rows.pdf', undefined],
])('the name %s means %s', (file, name) => {
  expect(formatByName(file)?.name).toBe(name);
});

test('no extension means two formats', () => {
  const extensions = formats.flatMap((format) => format.extensions);
  expect(new Set(extensions).size).toBe(extensions.length);
});

test.each([
  ['docs/manifests.md', `A manifest is a ${formatTitles} file`],
  ['docs/scheduling.md', `\`${manifestNames.replace('{,.gz}', '')}\`, also with \`.gz\``],
  ['README.md', ` is a ${formatTitles} file`],
])('%s names all formats', async (page, words) => {
  expect((await readFile(page, 'utf8')).replaceAll(/\s+/g, ' ').replaceAll(/\[|\]\([^)]*\)/g, '')).toContain(
    words,
  );
});
