// @ts-check
import { parseSync, Visitor } from 'rolldown/utils';

/* The prose of a file, with everything at its place: what is not prose is blank. */

/** The lines that are comments of YAML, a shell script, a systemd unit and the like. @param {string} text */
export function commentLines(text) {
  return text.replace(/^(?!\s*#).*|^\s*#+|`[^`\n]*`/gm, blank);
}

/** A page without its code. @param {string} text */
export function proseOfPage(text) {
  return text.replace(/^( *)(```+)[\s\S]*?^\1\2 *$|`[^`\n]*`/gm, blank);
}

/**
 * Comments and strings of more than one word; a full stop stands for code between them.
 *
 * @param {string} text
 * @param {string} file
 */
export function proseOfSource(text, file) {
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
