import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deadLinks } from '../../docs/.vitepress/dead-links.ts';
import { siteLink, sitePage } from '../../docs/.vitepress/site-links.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n');

describe('a link on the site', () => {
  test.each([
    ['docs/rate.md', 'guards.md#undo', { kind: 'page', href: '/guards#undo' }],
    ['docs/rate.md', '../README.md', { kind: 'page', href: '/' }],
    ['docs/rate.md', '../SECURITY.md', { kind: 'page', href: '/security-policy' }],
    ['README.md', 'docs/rate.md', { kind: 'page', href: '/rate' }],
    ['README.md', 'examples/README.md', { kind: 'page', href: '/examples/' }],
    ['docs/scheduling.md', '../examples/scheduling', { kind: 'page', href: '/examples/#scheduling' }],
    ['docs/manifests.md', '../examples/mixed.csv', { kind: 'file', href: './examples/mixed.csv' }],
    ['examples/README.md', 'scheduling/crontab', { kind: 'file', href: './scheduling/crontab' }],
    ['CONTRIBUTING.md', 'src/domain/terms.ts', { kind: 'path', path: 'src/domain/terms.ts' }],
    ['docs/rate.md', 'https://example.com', undefined],
    ['docs/rate.md', '#retries', undefined],
  ])('in %s to %s', (page, href, link) => {
    expect(siteLink(href, page)).toEqual(link);
  });
});

test.each([
  ['./rate#limits', []],
  ['/rate', []],
  ['/', []],
  ['images/plan.png', []],
  ['https://example.com/none', []],
  ['./rate#none', ['index.html: ./rate#none']],
  ['#none', ['index.html: #none']],
  ['/none', ['index.html: /none']],
  // A folder is no file.
  ['/images', ['index.html: /images']],
])('of a built page with the link %s, the dead links are %j', async (link, dead) => {
  const folder = await temporaryFolder();
  for (const [file, text] of [
    ['index.html', `<a class="link" href="${link}">`],
    ['rate.html', '<h2 id="limits">'],
    ['images/plan.png', ''],
  ] as const) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  expect(deadLinks(folder)).toEqual(dead);
});

test('the menu of the site has each page for users and developers', () => {
  const [, more = ''] = readFileSync('README.md', 'utf8').split('\n## More\n');
  const named = [...more.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path);
  const pages = tracked.filter((path) => path.endsWith('.md') && sitePage(path) !== undefined);
  expect(named.toSorted()).toEqual(pages.filter((path) => path !== 'README.md').toSorted());
});

test('examples/README.md names each example', () => {
  const named = readFileSync('examples/README.md', 'utf8').matchAll(/\]\((\w[^)]+)\)/g);
  const examples = tracked.filter((path) => path.startsWith('examples/') && path !== 'examples/README.md');
  expect([...named].map(([, path = '']) => `examples/${path}`).toSorted()).toEqual(examples.toSorted());
});

test('a link that has the name of a page as its text leads to this page, or to the glossary', () => {
  const wrong = tracked
    .filter((path) => /^(?:README|docs\/[\w-]+)\.md$/.test(path))
    .flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/\[([\w -]+)\]\(([^)#\s]+\.md)[^)]*\)/g)])
    .filter(([, text = '', path = '']) => {
      const named = `docs/${text.toLowerCase().replaceAll(' ', '-')}.md`;
      return tracked.includes(named) && ![basename(named), 'glossary.md'].includes(basename(path));
    });
  expect(wrong.map(([link]) => link)).toEqual([]);
});
