// @ts-check
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { anchorOf } from './anchor.ts';

/* The site of these pages: `npm run docs` builds it into the folder `dist` here. The README's section "More" is its menu. */

/** The page that opens first. */
const start = 'first-run';
const icon = readFileSync(new URL('../../src/pages/browser/icon.svg', import.meta.url), 'utf8').trim();
const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`;
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** @type {import('vitepress').DefaultTheme.SidebarItem[]} */
const menu = [...readme.matchAll(/^\*\*(.+?):\*\*(.+(?:\n.+)*)/gm)].map(([, text, links = '']) => ({
  text,
  items: [...links.matchAll(/\[(.)(.+?)\]\(docs\/(.+?)\.md\)/g)].map(([, first = '', rest, page]) => ({
    text: `${first.toUpperCase()}${rest}`,
    link: page === start ? '/' : `/${page}`,
  })),
}));

export default defineConfig({
  title: 'callquality-batch',
  description: 'Restore deleted evaluations and update soundboard entries, thousands at a time',
  rewrites: { [`${start}.md`]: 'index.md' },
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: iconUrl }]],
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      // Links to files outside these pages become names.
      md.core.ruler.push('project-files', ({ tokens }) => {
        for (const { children } of tokens)
          for (const [index, link] of (children ?? []).entries()) {
            if (link.type !== 'link_open' || !link.attrGet('href')?.startsWith('../')) continue;
            const end = children?.slice(index).find(({ type }) => type === 'link_close');
            link.attrs = null;
            for (const token of [link, end]) if (token !== undefined) token.tag = 'span';
          }
      });
    },
  },
  themeConfig: {
    logo: iconUrl,
    sidebar: menu,
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
