// @ts-check
import { cpSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf } from './anchor.ts';
import { deadLinks } from './dead-links.ts';
import { siteLink, sitePage } from './site-links.ts';

/*
 * The site: `npm run docs` builds it into the folder `dist` here. README.md is its front page, and the README's section "More" its menu.
 * A build with a dead link fails.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const icon = readFileSync(join(root, 'src/pages/browser/icon.svg'), 'utf8').trim();
const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`;
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** @type {import('vitepress').DefaultTheme.SidebarItem[]} */
const menu = [...readme.matchAll(/^\*\*(.+?):\*\*(.+(?:\n.+)*)/gm)].map(([, text, links = '']) => ({
  text,
  items: [...links.matchAll(/\[(.)(.+?)\]\((.+?)\)/g)].flatMap(([, first = '', rest, href = '']) => {
    const link = siteLink(href, 'README.md');
    return link?.kind === 'page' ? { text: `${first.toUpperCase()}${rest}`, link: link.href } : [];
  }),
}));

export default defineConfig({
  title: 'callquality-batch',
  description: 'Restore deleted evaluations and update soundboard entries, thousands at a time',
  srcDir: root,
  srcExclude: ['{src,jobs,test,.ci,.github}/**', 'CODE_OF_CONDUCT.md'],
  rewrites: (page) => sitePage(page) ?? page,
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: iconUrl }]],
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.push('site-links', ({ tokens, env, Token }) => {
        const page = relative(root, env.realPath ?? env.path);
        for (const { children } of tokens)
          for (const token of children?.filter(({ type }) => type === 'link_open') ?? []) {
            const link = siteLink(token.attrGet('href') ?? '', page);
            if (link === undefined) continue;
            if (link.kind === 'path') {
              const code = Object.assign(new Token('code_inline', 'code', 0), { content: link.path });
              const start = children?.indexOf(token) ?? 0;
              const length = children?.slice(start).findIndex(({ type }) => type === 'link_close') ?? 0;
              children?.splice(start, length + 1, code);
              continue;
            }
            token.attrSet('href', link.href);
            // The browser loads a file itself; the script of the site would look for a page.
            if (link.kind === 'file') token.attrSet('target', '_self');
          }
      });
    },
  },
  vite: {
    plugins: [
      {
        // Pages outside this folder have no `vue` beside them. The built pages have.
        name: 'vue-beside-the-site',
        enforce: 'pre',
        resolveId: (id, _importer, { ssr }) =>
          ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : null,
      },
    ],
  },
  themeConfig: {
    logo: iconUrl,
    nav: [
      { text: 'Install', link: '/install' },
      { text: 'First run', link: '/first-run' },
      { text: 'Reference', link: '/reference' },
      { text: 'Changelog', link: '/changelog' },
    ],
    sidebar: menu,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  buildEnd({ outDir }) {
    cpSync(join(root, 'examples'), join(outDir, 'examples'), { recursive: true });
    const dead = deadLinks(outDir);
    if (dead.length > 0) throw new Error(`Dead links of the site:\n${dead.join('\n')}`);
  },
});
