import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorOf } from '../../docs/.vitepress/anchor.ts';
import { typedWords, understood } from './command-line.ts';
import { shellLinesOf } from './console-blocks.ts';

const inDocs = readdirSync('docs').filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...inDocs.map((name) => `docs/${name}`)];

const withOurs = [...pages, 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md'];

const all = pages.flatMap((page) => shellLinesOf(page).map((line) => ({ page, line })));

/** A text without its blocks of code. */
function withoutBlocks(text: string): string {
  return text.replace(/^ *```.*?^ *```$/gms, '');
}

/** The names in code of a text. */
function namesIn(text: string): readonly string[] {
  return [...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** The anchors of the headings of a page, here, on GitHub and on the site. */
function anchorsOf(page: string): readonly string[] {
  const headings = withoutBlocks(readFileSync(page, 'utf8')).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) => anchorOf(heading));
}

describe('the documentation', () => {
  test.each(withOurs)('%s names only files that exist', (page) => {
    const files = namesIn(readFileSync(page, 'utf8'))
      .filter((name) => /^(?:src|jobs|test|examples)\/[\w./-]+$/.test(name))
      // What CONTRIBUTING.md has its readers write.
      .filter((name) => !name.includes('archive-evaluation'));
    expect(files.filter((name) => !existsSync(name))).toEqual([]);
  });

  test.each(withOurs)('%s links only to pages and headings that exist', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)\s]+)\)|<img src="([^"]+)"/g)];
    const broken = links
      .map(([, link, image]) => link ?? image ?? '')
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : join(dirname(page), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  test('has command lines', () => expect(all.length).toBeGreaterThan(20));

  test.each(all)('$page shows valid commands: cqbatch $line', async ({ line }) => {
    await understood(typedWords(line));
  });
});
