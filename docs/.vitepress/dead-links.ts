import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const site = 'http://site.invalid/';

/** The values of an attribute in HTML. */
const valuesOf = (name: string, html: string): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );

/**
 * Links and images of a built site that lead nowhere: to a file that does not exist, or to an anchor that its page lacks.
 *
 * @returns a line for each: `rate.html: ./report#chek`
 */
export function deadLinks(folder: string): readonly string[] {
  const files = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/')),
  );
  const pages = new Map(
    [...files]
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const),
  );
  const fileOf = (path: string): string | undefined =>
    [path, `${path}.html`, `${path}index.html`].find((file) => files.has(file));

  const isDead = (link: string, page: string): boolean => {
    const { href, pathname, hash } = new URL(link, site + page);
    if (!href.startsWith(site)) return false;
    const target = fileOf(decodeURIComponent(pathname.slice(1)));
    if (target === undefined) return true;
    return (
      hash !== '' && !valuesOf('id', pages.get(target) ?? '').includes(decodeURIComponent(hash.slice(1)))
    );
  };
  return [...pages].flatMap(([page, html]) =>
    [...new Set([...valuesOf('href', html), ...valuesOf('src', html)])]
      .filter((link) => isDead(link, page))
      .map((link) => `${page}: ${link}`),
  );
}
