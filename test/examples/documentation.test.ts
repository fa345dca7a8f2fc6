import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fieldOptions } from '../../jobs/index.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { nameInWords } from '../../src/settings/settings.ts';
import { understood, words } from './command-line.ts';

const inDocs = readdirSync('docs').filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...inDocs.map((name) => `docs/${name}`)];

/** The command lines in blocks of shell, behind `cqbatch`, as they are typed or stand in a crontab. */
function commandLines(page: string): readonly string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => /^(?:[^#'"|]*\s)?cqbatch (.*)$/.exec(line)?.[1] ?? []),
  );
}

const all = pages.flatMap((page) => commandLines(page).map((line) => ({ page, line })));

/** The names in code of a text. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

test('the README names every setting of the configuration file', () => {
  const [, list = ''] =
    /can stand in `\.cqbatch\/config\.json`:(.*?)Flags come before/s.exec(
      readFileSync('README.md', 'utf8'),
    ) ?? [];
  const keys = [
    ...Object.keys(settings).map((name) => nameInWords(name, '_')),
    ...fieldOptions.map(({ name }) => name),
  ];
  expect(namesIn(list).toSorted()).toEqual(keys.toSorted());
});

describe('the documentation', () => {
  test.each([...pages, 'CONTRIBUTING.md'])('%s names files that there are', (page) => {
    const files = namesIn(readFileSync(page, 'utf8'))
      .filter((name) => /^(?:src|jobs|test|examples)\/[\w./-]+$/.test(name))
      // What CONTRIBUTING.md has its readers write.
      .filter((name) => !name.includes('archive-evaluation'));
    expect(files.filter((name) => !existsSync(name))).toEqual([]);
  });

  test('has command lines', () => expect(all.length).toBeGreaterThan(20));

  test.each(all)('$page types what is understood: cqbatch $line', async ({ line }) => {
    // Up to a comment, a redirection or the next command.
    const args = words(line.replaceAll('\\%', '%'));
    const end = args.findIndex((word) => /^(?:#|\||>|>>|&&|&|;)/.test(word));
    await understood(end === -1 ? args : args.slice(0, end));
  });
});
