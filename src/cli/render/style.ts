import { inspect } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** Keeps marks out of text from a manifest or an answer. Not from `node:crypto`, which takes two milliseconds at each start. */
const secret = Math.random().toString(36).slice(2);
const end = `\ufdd1${secret}`;
const begin = (style: string): string => `\ufdd0${secret}${style};`;
const spans = new RegExp(`${begin('(\\w+)')}(.*?)${end}`, 'gs');
const marksAndCharacters = new RegExp(`${begin('\\w+')}|${end}|.`, 'gsu');
const emptySpans = new RegExp(begin('\\w+') + end, 'g');

/** For `painted` or `plain`. Marks don't nest. */
export function styled(style: Style, text: string): string {
  return text === '' ? '' : begin(style) + text + end;
}

export function withHeadings(text: string): string {
  return text.replace(/^\S.*:$/gm, (heading) => styled('bold', heading));
}

export function plain(text: string): string {
  return text.replace(spans, '$2');
}

export function painted(text: string): string {
  return text.replace(spans, (_span, style: Style, inner: string) => {
    const [on, off] = inspect.colors[style] ?? [0, 0];
    return `\u001b[${on}m${inner}\u001b[${off}m`;
  });
}

export function widthOf(text: string): number {
  return plain(text).length;
}

/** A cut line ends with `…`. */
export function cutTo(columns: number, line: string): string {
  if (widthOf(line) <= columns) return line;
  let room = columns - 1;
  const cut = line.replace(marksAndCharacters, (part) => {
    const isMark = part.length > 2;
    if (!isMark) room -= part.length;
    return isMark || room >= 0 ? part : '';
  });
  return `${cut.replace(emptySpans, '')}…`;
}
