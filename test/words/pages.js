// @ts-check
/**
 * Counts per page what makes a reader read twice. CONTRIBUTING.md has the rule: subject, verb, object; the noun instead of a word that
 * stands for the noun; a thought per sentence. A count is no fault: it shows where to look first.
 */
import { ParseEnglish } from 'parse-english';

/** The most words that a sentence has without being counted. */
const longestSentence = 25;

/** The most words of all pages for a kind of reader. */
const limits = { users: 20_000, developers: 12_000 };

/** Pages that are made from tables in the code, or grow with each change. */
const apart = ['docs/reference.md', 'CHANGELOG.md'];

const pagesShown = 10;

/** Words after which a pronoun has been used without its noun. */
const noNoun =
  'is|are|was|were|has|have|had|does|do|may|can|must|will|would|could|should|means|says|shows|of|as|for|and|or|in|with|to|at|by|if|who|which|that';

/** What is counted, by the heading of its column. The words are searched in a sentence. */
const counted = {
  it: /\bit\b/gi,
  'that, those': new RegExp(
    `^that (?=(?:${noNoun})\\b)|\\b(?:of|for|after|like|than|with|by|from|to|before|until|at|on) that(?=[,.;:)]| (?:${noNoun})\\b)|\\bthose(?=[,.;:)]| (?:${noNoun})\\b)`,
    'gi',
  ),
  this: new RegExp(`\\b(?:this|these)(?=[,.;:)]| (?:${noNoun})\\b)`, 'gi'),
  one: new RegExp(
    `\\bones\\b|\\b(?:the|this|that|a|each|every|another|which|new|old|other|first|last|next|right|wrong|earlier|later|newest) one\\b|\\bone(?=[,.;:)]| (?:${noNoun})\\b)`,
    'gi',
  ),
  'the same': new RegExp(`\\bthe same(?=[,.;:)]| (?:${noNoun})\\b)`, 'gi'),
};

/** @typedef {import('./pages.d.ts').PageCount} PageCount */

const english = new ParseEnglish();

/**
 * @param {string} page
 * @param {string} text
 * @returns {PageCount}
 */
export function countPage(page, text) {
  const sentences = sentencesOf(text);
  const lengths = sentences.map((sentence) => wordsIn(sentence));
  /** @type {Record<string, number>} */
  const counts = {};
  for (const [heading, pattern] of Object.entries(counted))
    counts[heading] = sentences.reduce((sum, sentence) => sum + (sentence.match(pattern)?.length ?? 0), 0);
  counts['long'] = lengths.filter((length) => length > longestSentence).length;
  counts['chains'] = sentences.filter((sentence) => (sentence.match(/[;:](?=\s)/g)?.length ?? 0) > 1).length;
  return { page, words: lengths.reduce((sum, length) => sum + length, 0), counts };
}

/** The stumbles of a page on each hundred words. @param {PageCount} count */
function shareOf({ words, counts }) {
  return (100 * Object.values(counts).reduce((sum, count) => sum + count, 0)) / Math.max(words, 1);
}

/** The sentences of headings, paragraphs, items and cells. Code within a sentence is a word. @param {string} text */
function sentencesOf(text) {
  const paragraphs = text
    .replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, '\n')
    .replace(/<!--[\s\S]*?-->|<[a-z][^>]*>/g, '')
    .replace(/`[^`\n]*`/g, 'CODE')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*/g, '')
    .replace(/^\|[ :|-]+\|$/gm, '')
    .replace(/^\|.*\|$/gm, (line) => line.replaceAll('|', '\n\n'))
    .replace(/^ *(?:#+|[-*>]|\d+\.) (.*)/gm, '\n\n$1')
    .replace(/^(#+ .*)$/gm, '$1\n\n')
    .split(/\n\s*\n/);
  return paragraphs.flatMap((paragraph) => {
    const line = paragraph.replace(/\s+/g, ' ').trim();
    return english
      .parse(line)
      .children.flatMap((part) => (part.type === 'ParagraphNode' ? part.children : []))
      .filter(({ type }) => type === 'SentenceNode')
      .map(({ position }) => line.slice(position?.start.offset, position?.end.offset));
  });
}

/** @param {string} sentence */
function wordsIn(sentence) {
  return sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’_./%-]*/gu)?.length ?? 0;
}

/**
 * The worst pages as a table, and the words of all pages beside the limits.
 *
 * @param {readonly PageCount[]} pages
 * @param {string} readme its section "More" names the pages for developers below "Change it"
 * @returns {{ readonly text: string, readonly isAboveLimit: boolean }}
 */
export function pagesReport(pages, readme) {
  const [, group = ''] = /^\*\*Change it:\*\*(.+(?:\n.+)*)/m.exec(readme) ?? [];
  const ofDevelopers = [...group.matchAll(/\]\((.+?)\)/g)].map(([, page = '']) => page);
  /** @param {PageCount} count */
  const kindOf = ({ page }) => {
    if (apart.includes(page)) return 'apart';
    return ofDevelopers.includes(page) ? 'developers' : 'users';
  };
  /** @param {string} kind */
  const wordsOf = (kind) =>
    pages.filter((count) => kindOf(count) === kind).reduce((sum, { words }) => sum + words, 0);

  const worst = pages.toSorted((a, b) => shareOf(b) - shareOf(a)).slice(0, pagesShown);
  const headings = [...Object.keys(counted), 'long', 'chains', 'words', 'of 100'];
  const lines = worst.map((count) => [
    count.page,
    ...Object.values(count.counts).map(String),
    String(count.words),
    shareOf(count).toFixed(1),
  ]);
  const widest = Math.max(0, ...worst.map(({ page }) => page.length));
  const table = [['page', ...headings], ...lines].map(([page = '', ...cells]) =>
    [page.padEnd(widest), ...cells.map((cell, column) => cell.padStart(headings[column]?.length ?? 0))].join(
      '  ',
    ),
  );
  const totals = Object.entries(limits).map(
    ([kind, limit]) =>
      `${kind}: ${wordsOf(kind)} words of ${limit}${wordsOf(kind) > limit ? ', too many' : ''}`,
  );
  const lastly = `not counted: ${wordsOf('apart')} words of ${apart.join(' and ')}`;
  return {
    text: `\n${table.join('\n')}\n\n${[...totals, lastly].join('\n')}\n`,
    isAboveLimit: Object.entries(limits).some(([kind, limit]) => wordsOf(kind) > limit),
  };
}
