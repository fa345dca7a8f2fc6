import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Pages for users, which link a term to the glossary where they first use it. */
const pages = [
  ...['guards', 'compare', 'undo', 'budgets', 'history', 'plans', 'errors', 'service', 'manifests', 'report'],
  ...['rate', 'scheduling', 'dashboard', 'sandbox'],
];

const terms: readonly (readonly [anchor: string, word: RegExp])[] = [
  ['canary', /\bcanary\b/i],
  ['daemon', /\bdaemons?\b/i],
  ['gave-up', /\bg[ai]ves? up\b/i],
  ['halted', /\bhalt(?:s|ed)\b/i],
  ['inbox', /\binbox(?:es)?\b/i],
  ['rate-group', /\brate groups?\b/i],
  ['state-folder', /\bstate folder\b/i],
  ['unclear', /\bunclear\b/i],
  ['worker', /\bworkers?\b/i],
];

/** The paragraphs, list entries and lines of tables of a page, without code, headings and pictures. */
function partsOf(page: string): readonly string[] {
  const prose = readFileSync(`docs/${page}.md`, 'utf8')
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/^(?:#|!\[).*$/gm, '');
  return prose.split(/\n\n|\n(?=[-|\d])/);
}

test.each(pages)('docs/%s.md links each term where it first uses the word', (page) => {
  const unlinked = terms.filter(([anchor, word]) => {
    const first = partsOf(page).find((part) => word.test(part.replaceAll(/`[^`]*`|\]\([^)]*\)/g, ' ')));
    const isExplained = first?.includes(`](glossary.md#${anchor})`) || first?.includes(`](${page}.md`);
    return first !== undefined && !isExplained;
  });
  expect(unlinked.map(([anchor]) => anchor)).toEqual([]);
});
