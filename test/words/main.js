// @ts-check
/**
 * Finds words that readers stumble over, in comments, strings and pages: `npm run words [-- PATH…]`. The words and what to
 * write instead are in `list.js`. The exit code is 1 when one is found.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { search } from 'nlcst-search';
import { ParseEnglish } from 'parse-english';
import { parseSync, Visitor } from 'rolldown/utils';
import { avoided } from './list.js';

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
process.exitCode = found > 0 ? 1 : 0;

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

/** The lines that are comments of YAML, a shell script, a systemd unit and the like. @param {string} text */
function commentLines(text) {
  return text.replace(/^(?!\s*#).*|^\s*#+|`[^`\n]*`/gm, blank);
}

/** A page without its code, everything at its place. @param {string} text */
function proseOfPage(text) {
  return text.replace(/^( *)(```+)[\s\S]*?^\1\2 *$|`[^`\n]*`/gm, blank);
}

/**
 * Comments and strings of more than one word, everything at its place; a full stop stands for code between them.
 *
 * @param {string} text
 * @param {string} file
 */
function proseOfSource(text, file) {
  const { program, comments } = parseSync(file, text);
  /** @type {{ readonly start: number, readonly end: number }[]} */
  const pieces = [...comments];
  /** @param {{ readonly start: number, readonly end: number }} node */
  const take = ({ start, end }) => {
    if (/\s/.test(text.slice(start, end).trim())) pieces.push({ start: start, end });
  };
  new Visitor({
    Literal: (node) => typeof node.value === 'string' && take(node),
    TemplateElement: take,
    JSXText: take,
  }).visit(program);
  let prose = '';
  for (const { start, end } of pieces.sort((a, b) => a.start - b.start)) {
    prose += gap(text.slice(prose.length, start));
    prose += text
      .slice(start, end)
      .replace(/^\/[/*]+|^[ \t]*\*(?!\/)|\*\/$/gm, blank)
      .replace(/`[^`\n]*`/g, blank);
  }
  return prose;
}

/** Nothing, or the end of a sentence where there is code. @param {string} code */
function gap(code) {
  return blank(code).replace(/ /, code.trim() === '' ? ' ' : '.');
}

/** @param {string} text */
function blank(text) {
  return text.replace(/[^\n]/g, ' ');
}
