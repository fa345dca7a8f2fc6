import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/** What a part of a text may look like on a screen. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/**
 * Where a styled part of a text begins and ends, until the text is written. Nobody else can know the secret in it, so that
 * nothing that stands in a manifest or in an answer colours anything.
 */
const secret = randomBytes(8).toString('hex');
const end = `\ufdd1${secret}`;
const begin = (style: string): string => `\ufdd0${secret}${style};`;
const spans = new RegExp(`${begin('(\\w+)')}(.*?)${end}`, 'gs');
const marksAndCharacters = new RegExp(`${begin('\\w+')}|${end}|.`, 'gsu');
const emptySpans = new RegExp(begin('\\w+') + end, 'g');

/** Marks a text that holds no marked one: `painted` and `plain` say what becomes of it. */
export function styled(style: Style, text: string): string {
  return text === '' ? '' : begin(style) + text + end;
}

/** Lines of help in which those that end with a colon are headings. */
export function withHeadings(text: string): string {
  return text.replace(/^\S.*:$/gm, (heading) => styled('bold', heading));
}

/** The text without its styles. */
export function plain(text: string): string {
  return text.replace(spans, '$2');
}

/** The text for a screen that shows colours. */
export function painted(text: string): string {
  return text.replace(spans, (_span, style: Style, inner: string) => {
    const [on, off] = inspect.colors[style] ?? [0, 0];
    return `\u001b[${on}m${inner}\u001b[${off}m`;
  });
}

/** How many columns a text on one line takes. */
export function widthOf(text: string): number {
  return plain(text).length;
}

/** One line that takes so many columns at most; the last of them says `…` where something is missing. */
export function cutTo(columns: number, line: string): string {
  if (widthOf(line) <= columns) return line;
  let left = columns - 1;
  const cut = line.replace(marksAndCharacters, (part) => {
    const isMark = part.length > 2;
    if (!isMark) left -= part.length;
    return isMark || left >= 0 ? part : '';
  });
  return `${cut.replace(emptySpans, '')}…`;
}
