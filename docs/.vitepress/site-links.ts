import { statSync } from 'node:fs';
import { posix } from 'node:path';

/** Pages outside `docs`, and where the site has them. */
const otherPages: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security-policy.md',
  'examples/README.md': 'examples/index.md',
};

/** The page of the site that is made of a file of the repository: `docs/rate.md` becomes `rate.md`. */
export function sitePage(file: string): string | undefined {
  return otherPages[file] ?? /^docs\/([\w-]+\.md)$/.exec(file)?.[1];
}

/** What a link becomes on the site: a link to a page or to a copied file, or the path of a file that only the repository has. */
export type SiteLink =
  | { readonly kind: 'page' | 'file'; readonly href: string }
  | { readonly kind: 'path'; readonly path: string };

/**
 * @param href a link as the repository has it: relative to its page
 * @param page the file with the link, from the root of the repository
 * @returns undefined for a link to another host or within the page
 */
export function siteLink(href: string, page: string): SiteLink | undefined {
  if (/^(?:[a-z]+:|#)/.test(href)) return undefined;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(page), path);
  const target = sitePage(file);
  if (target !== undefined) {
    const address = `/${target.replace(/(?:(?<=^|\/)index)?\.md$/, '')}`;
    return { kind: 'page', href: anchor === undefined ? address : `${address}#${anchor}` };
  }
  const [folder, name] = file.split('/');
  if (folder !== 'examples') return { kind: 'path', path: file };
  // A folder has a heading on the page of the examples.
  if (statSync(new URL(`../../${file}`, import.meta.url)).isDirectory())
    return { kind: 'page', href: `/examples/#${name}` };
  const from = posix.dirname(sitePage(page) ?? page);
  return { kind: 'file', href: `./${posix.relative(from, file)}` };
}
