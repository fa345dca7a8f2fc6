// @ts-check
/**
 * Finds words that readers stumble over, in comments, strings and pages: `npm run words [-- PATH…]`. The words and what to write instead are
 * in `list.js`. Also shows the pages that are hardest to read, and how long all pages are. The exit code is 1 when a word is found, or when
 * the pages are too long.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { search } from 'nlcst-search';
import { ParseEnglish } from 'parse-english';
import { avoided } from './list.js';
import { countPage, pagesReport } from './pages.js';
import { commentLines, proseOfPage, proseOfSource } from './prose.js';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const paths = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', '-z', '--', ...(paths.length > 0 ? paths : ['.'])], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => kindOf(path) !== undefined && !/^test\/(?:words|fixtures)\//.test(path));

const english = new ParseEnglish();
const phrases = Object.keys(avoided).filter((phrase) => phrase !== 'who');
let found = 0;
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const prose = { page: proseOfPage, source: proseOfSource, config: commentLines }[kindOf(file) ?? 'page'](
    text,
    file,
  );
  // In a string, `\n` is a space to the reader.
  const tree = english.parse(prose.replace(/\\n/g, '  '));
  search(tree, phrases, ([node], _index, _parent, phrase) => tell(file, node, phrase));
  for (const sentence of sentencesOf(tree))
    if (/^who\b[^?]*$/i.test(prose.slice(sentence.position?.start.offset, sentence.position?.end.offset)))
      tell(file, sentence, 'who');
}
process.stdout.write(`${files.length} files, ${found} words to replace\n`);
const pages = files.filter((file) => kindOf(file) === 'page' && !file.startsWith('.'));
const counts = pages.map((page) => countPage(page, readFileSync(page, 'utf8')));
const { text, isAboveLimit } = pagesReport(counts, readFileSync('README.md', 'utf8'));
process.stdout.write(text);
process.exitCode = found > 0 || (isAboveLimit && paths.length === 0) ? 1 : 0;

/** @typedef {ReturnType<ParseEnglish['parse']>} Root */

/**
 * @param {string} file
 * @param {Pick<Root, 'position'> | undefined} node
 * @param {string} phrase
 */
function tell(file, node, phrase) {
  found += 1;
  const { line, column } = node?.position?.start ?? {};
  process.stdout.write(`${file}:${line}:${column} "${phrase}": write ${avoided[phrase]}\n`);
}

/** @param {Root} root */
function sentencesOf(root) {
  return root.children
    .flatMap((part) => (part.type === 'ParagraphNode' ? part.children : []))
    .filter(({ type }) => type === 'SentenceNode');
}

/** @param {string} path @returns {'page' | 'source' | 'config' | undefined} */
function kindOf(path) {
  if (path.endsWith('.md')) return 'page';
  if (/\.[jt]sx?$/.test(path)) return 'source';
  return /^\.ci\/|\.(?:ya?ml|sh|service|path|timer|env|gitignore)$|\/crontab$|Dockerfile$/.test(path)
    ? 'config'
    : undefined;
}
