import { pathToFileURL } from 'node:url';
import { escapeInvisible } from '../../base/text/printable.ts';

/**
 * The styles. Red: errors, failed rows, halted runs. Yellow: warnings, unclear rows, waits. Green: done. Bold: the verdict and `Next:`.
 * Dim: what is repeated. These five of the 16 colors can be read on light and dark screens.
 */
const codes = {
  bold: ['1', '22'],
  dim: ['2', '22'],
  green: ['32', '39'],
  red: ['31', '39'],
  yellow: ['33', '39'],
  boldRed: ['1;31', '22;39'],
  boldYellow: ['1;33', '22;39'],
} as const;

export type Style = keyof typeof codes;

/** Keeps marks out of text from a manifest or an answer. Not made with `node:crypto`, which takes two milliseconds at each start. */
const secret = Math.random().toString(36).slice(2);
const end = `\ufdd1${secret}`;
const begin = (style: string): string => `\ufdd0${secret}${style};`;
const spans = new RegExp(`${begin('(\\w+)')}(.*?)${end}`, 'gs');
const endLink = `\ufdd4${secret}`;
const beginLink = (address: string): string => `\ufdd2${secret}${address}\ufdd3`;
const links = new RegExp(`${beginLink('([^\ufdd3]*)')}(.*?)${endLink}`, 'gs');
const mark = `${begin('\\w+')}|${end}|${beginLink('[^\ufdd3]*')}|${endLink}`;
const marks = new RegExp(mark, 'g');
const marksAndCharacters = new RegExp(`${mark}|.`, 'gsu');

/** Marks a path that opens the file in a terminal with hyperlinks. `withLinks` makes the mark a link. */
export function linkedText(path: string, text: string): string {
  return beginLink(pathToFileURL(path).href) + escapeInvisible(text) + endLink;
}

/** Marks a text with a style. `withColors` makes the mark a color, and `withoutMarks` removes it. Marks don't nest. */
export function styled(style: Style, text: string): string {
  return text === '' ? '' : begin(style) + text + end;
}

export function withHeadings(text: string): string {
  return text.replace(/^\S.*:$/gm, (heading) => styled('bold', heading));
}

const labels = { 'error:': 'boldRed', 'warning:': 'boldYellow', 'Next:': 'bold' } as const;

/** Marks the words that begin a line and say what the line is. */
export function withLabels(text: string): string {
  return text.replace(/^(?:error|warning):|(?<=^|\. )Next:/gm, (label) =>
    styled(labels[label as keyof typeof labels], label),
  );
}

export function withoutMarks(text: string): string {
  return text.replace(marks, '');
}

/** Makes marks the links of a terminal (OSC 8). Otherwise, `withColors` and `withoutMarks` leave the links out. */
export function withLinks(text: string): string {
  return text.replace(links, '\u001b]8;;$1\u001b\\$2\u001b]8;;\u001b\\');
}

export function withColors(text: string): string {
  return text.replace(links, '$2').replace(spans, (_span, style: Style, inner: string) => {
    const [on, off] = codes[style];
    return `\u001b[${on}m${inner}\u001b[${off}m`;
  });
}

const narrowText = /^[\u0020-\u02ff\u2010-\u25ff]*$/;
const wideCharacter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const combiningCharacter = /[\p{Mn}\p{Me}]/u;

/** The columns of a text: Chinese, Japanese and Korean characters and emoji take two (Unicode Standard Annex 11), a combining mark none. */
export function widthOf(text: string): number {
  const seen = withoutMarks(text);
  if (narrowText.test(seen)) return seen.length;
  let width = 0;
  for (const character of seen) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (wideCharacter.test(character)) return 2;
  return combiningCharacter.test(character) ? 0 : 1;
}

/** Cuts a text without styles in its middle: `https://api.exa…/v1/soundboards` */
export function cutInTheMiddle(columns: number, text: string): string {
  if (widthOf(text) <= columns) return text;
  const room = Math.max(0, columns - 1);
  const tail = Math.floor(room / 2);
  const characters = [...text];
  const before = firstWithin(characters, room - tail);
  const after = firstWithin(characters.toReversed(), tail).toReversed();
  return [...before, '…', ...after].join('');
}

function firstWithin(characters: readonly string[], columns: number): readonly string[] {
  let width = 0;
  return characters.slice(
    0,
    characters.findIndex((character) => {
      width += characterWidth(character);
      return width > columns;
    }),
  );
}

/** How many rows of a screen the lines take. A line that is wider than the screen takes several. */
export function screenRows(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}

const address = /^https?:\/\/\S+$/;

/** Splits a line into words and commands. A command stays whole for copying: in quotes, or from a colon or the line's start. */
const words = new RegExp(
  `"(?=cqbatch )[^"]*"\\S*|(?<=(?:^|:)(?:${end})? *)cqbatch .*|(?:${begin('\\w+')}|${end}|\\S)+`,
  'gu',
);

/**
 * Breaks a line at spaces. Further lines are indented like its second column, if it has one in the left half, otherwise two more than the
 * line. A longer word is broken, a longer address is cut in the middle. A longer command, or an address alone, is left to the terminal.
 */
export function wrappedLine(line: string, columns: number): readonly string[] {
  if (widthOf(line) <= columns || address.test(line)) return [line];
  const [{ length: indent } = ''] = /^ */.exec(line) ?? [];
  const [{ length: second } = ''] = /^ *\S.*? {2,}(?=\S)/.exec(withoutMarks(line)) ?? [];
  const hang = second > 0 && second <= columns / 2 ? second : Math.min(indent + 2, Math.floor(columns / 2));
  const lines: string[] = [];
  let [current, at] = ['', 0];
  for (const { 0: found, index } of line.matchAll(words)) {
    const gap = line.slice(at, index);
    at = index + found.length;
    const word = address.test(found) ? cutInTheMiddle(columns - hang, found) : found;
    if (current === '' || widthOf(current + gap + word) <= columns) {
      current += gap + word;
      continue;
    }
    lines.push(current);
    current = ' '.repeat(hang) + word;
  }
  return [...lines, current].flatMap((each) => (isCommand(each) ? [each] : brokenLine(each, columns, hang)));
}

function isCommand(line: string): boolean {
  return /^[ (]*"?cqbatch /.test(withoutMarks(line));
}

/** Breaks a line where a word is too long for the screen. @param line which perhaps has such a word */
function brokenLine(line: string, columns: number, hang: number): readonly string[] {
  if (widthOf(line) <= columns) return [line];
  const lines: string[] = [];
  let [current, width] = ['', 0];
  for (const [part] of line.matchAll(marksAndCharacters)) {
    const partWidth = part.length > 2 ? 0 : characterWidth(part);
    if (width + partWidth > columns) {
      lines.push(current);
      [current, width] = [' '.repeat(hang), hang];
    }
    current += part;
    width += partWidth;
  }
  return [...lines, current];
}
