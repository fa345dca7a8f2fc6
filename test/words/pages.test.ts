import { describe, expect, test } from 'vitest';
import { countPage, pagesReport } from './pages.js';

const long = `${'word '.repeat(25)}end.`;

describe('what makes a reader read twice', () => {
  test.each([
    ['It runs, and a worker takes it.', { it: 2 }],
    ['The unit and its limit.', {}],
    ['That is an error. After that, those are called.', { 'that, those': 3 }],
    ['Rows that failed, and those rows that wait.', {}],
    ['This is an error; see this row.', { this: 1 }],
    ['Take the new one, or one of these.', { one: 2, this: 1 }],
    ['Only one row is called.', {}],
    ['The row is the same as before, on the same machine.', { 'the same': 1 }],
    [long, { long: 1 }],
    [`A list: a row; an entry; a run.`, { chains: 1 }],
    ['A line of code:\n\n```sh\ncqbatch run it\n```\n\nand `it`.', {}],
    [`| it | ${'word '.repeat(20)}|\n|---|---|\n| ${'word '.repeat(20)} | it |`, { it: 2 }],
    [`- ${'word '.repeat(20)}\n- ${'word '.repeat(20)}\n`, {}],
    ['## It\n\n[it](it.md)', { it: 2 }],
  ])('%j', (text, expected) => {
    const { counts } = countPage('page.md', text);
    const found = Object.entries(counts).filter(([, count]) => count > 0);
    expect(Object.fromEntries(found)).toEqual(expected);
  });
});

test('code within a sentence is a word, and a block is none', () => {
  expect(countPage('page.md', 'Type `cqbatch run FILE` now:\n\n```sh\ncqbatch run FILE\n```\n').words).toBe(
    3,
  );
});

describe('the report on pages', () => {
  const readme = '## More\n\n**Use it:** [a](a.md)\n\n**Change it:** [b](b.md),\n[c](c.md)\n\nMIT license.\n';
  const page = (name: string, words: number) => ({ page: name, words, counts: { it: 1 } });

  test.each([
    ['users', [page('a.md', 20_001)], true],
    ['users', [page('a.md', 20_000), page('b.md', 12_000)], false],
    ['developers', [page('b.md', 6_000), page('c.md', 6_001)], true],
    ['neither', [page('CHANGELOG.md', 90_000), page('docs/reference.md', 90_000)], false],
  ])('has too many words for %s: %j', (_reader, pages, isAboveLimit) => {
    expect(pagesReport(pages, readme).isAboveLimit).toBe(isAboveLimit);
  });

  test('shows the ten worst pages, the worst first', () => {
    const pages = Array.from({ length: 12 }, (_, index) => page(`p${index + 1}.md`, (index + 1) * 100));
    const shown = [...pagesReport(pages, readme).text.matchAll(/^(p\d+)\.md /gm)].map(([, name]) => name);
    expect(shown).toEqual(pages.slice(0, 10).map(({ page }) => page.replace('.md', '')));
  });
});
