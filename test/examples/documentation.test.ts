import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
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

describe('the documentation', () => {
  test('has command lines', () => expect(all.length).toBeGreaterThan(20));

  test.each(all)('$page types what is understood: cqbatch $line', async ({ line }) => {
    // Up to a comment, a redirection or the next command.
    const args = words(line.replaceAll('\\%', '%'));
    const end = args.findIndex((word) => /^(?:#|\||>|>>|&&|&|;)/.test(word));
    await understood(end === -1 ? args : args.slice(0, end));
  });
});
