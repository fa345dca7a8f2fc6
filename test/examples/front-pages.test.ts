import { readFileSync } from 'node:fs';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { endings, runResults } from '../../src/engine/run/record/ending.ts';

const read = (page: string): string => readFileSync(page, 'utf8');
const readme = read('README.md');
const { engines, files } = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly files: readonly string[];
};

/** The cells of each line of a page's tables. */
const linesOf = (page: string): readonly (readonly string[])[] =>
  [...read(page).matchAll(/^\| (.+) \|$/gm)].map(([, line = '']) => line.split(' | '));

describe('README.md', () => {
  test.each([
    ['`xargs` and `curl`', 'xargs, curl'],
    ['`cqbatch run`', 'cqbatch run'],
  ])('has the figures of the benchmark of %s', (program, inBenchmark) => {
    const figures = linesOf('docs/benchmarks.md').find(
      ([limit, name]) => limit === '50/s, token bucket' && name === inBenchmark,
    );
    const [, , minutes, refused, , twice, unmarked] = figures ?? [];
    expect(linesOf('README.md')).toContainEqual([program, minutes, refused, twice, unmarked]);
  });

  test('says how many rows the benchmark has', () => {
    const [, rows] = /^([\d,]+) edits with `bench:done`/m.exec(read('docs/benchmarks.md')) ?? [];
    expect(readme).toContain(`Here ${rows} rows are updated`);
  });

  test('links only to files of the package', () => {
    const isPacked = picomatch([...files, ...files.map((file) => `${file}/**`)]);
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)|<img src="\.\/([^"]+)"/g)];
    expect(links.length).toBeGreaterThan(40);
    expect(links.map(([, link, image]) => link ?? image ?? '').filter((path) => !isPacked(path))).toEqual([]);
  });

  test.each([
    ['halted', endings.guard],
    ['gave up', endings.stuck],
  ])('has the exit code of a run that %s', (word, { words, exitCode }) => {
    expect(words).toBe(word);
    expect(readme).toContain(`| ${word} (exit code ${exitCode}) |`);
  });

  test('names the exit code of a used-up budget', () => {
    expect(readme).toMatch(new RegExp(`^\\| exit code ${endings.budget.exitCode} \\| a budget`, 'm'));
  });
});

test.each(['README.md', 'docs/install.md'])('%s names the oldest Node', (page) => {
  expect(read(page)).toContain(`Node ${engines.node.replace('>=', '')} or newer`);
});

test.each(['README.md', 'docs/install.md', 'docs/releases.md'])(
  '%s says that no version is released, as long as the changelog has none',
  (page) => {
    const hasRelease = /^## \d/m.test(read('CHANGELOG.md'));
    expect(/\bNo version is released\b/.test(read(page))).toBe(!hasRelease);
  },
);

test('docs/exit-codes.md says to resume after the ends that can be resumed', () => {
  const next = new Map(linesOf('docs/exit-codes.md').map(([code, , what = '']) => [code, what]));
  for (const end of Object.values(endings).filter(({ next }) => next === 'resume'))
    expect(next.get(`${end.exitCode}`), `exit code ${end.exitCode}`).toContain('`cqbatch resume`');
});

test('docs/library.md names each result of a run', () => {
  const [, named = ''] = /^`result` is (.+?), like/ms.exec(read('docs/library.md')) ?? [];
  expect([...named.matchAll(/`(\w+)`/g)].map(([, result]) => result)).toEqual([...runResults]);
});
