/** What the beginning of a text shows of JSON. */

import type { TextBeginning } from '../manifest-format.ts';

/** Whether a text is JSON, or is called so. Lines above the rows are a matter of delimited text. */
export function isJson(beginning: TextBeginning): boolean {
  const { preamble, hint } = beginning;
  return preamble.length === 0 && (beginsLikeJson(beginning) || hint === 'json' || hint === 'jsonl');
}

/** Whether a text begins like JSON. The header of a file that is called CSV or TSV may begin with a bracket, too. */
export function beginsLikeJson({ text, hint }: TextBeginning): boolean {
  const mayBeHeader = (hint === 'csv' || hint === 'tsv') && !jsonBeginning.test(text);
  return /^\s*[[{]/.test(text) && !mayBeHeader;
}

const jsonBeginning = /^\s*(?:\[\s*[[{"\]\d-]|\{\s*["}])/;

/** Whether a text is JSON Lines, of which each line is a whole value, even if it is broken inside. */
export function isJsonLines({ text, hint, rowsAt }: TextBeginning): boolean {
  if (rowsAt !== undefined || /^\s*\[/.test(text)) return false;
  if (!isJsonObjectText(text)) return hint === 'jsonl';
  const [, firstLine = '', next] = /^\s*([^\r\n]*)[\r\n]\s*(\S?)/.exec(text) ?? [];
  return !isLeftOpen(firstLine) && (hint === 'jsonl' || next === '{');
}

/** The kind of JSON that `--rows-at` works with. */
export const objectWithRows = 'a JSON object that has its rows in a member';

export function isJsonObjectText(text: string): boolean {
  return /^\s*\{/.test(text);
}

function isLeftOpen(line: string): boolean {
  const outsideStrings = line.replace(/"(?:[^"\\]|\\.)*"/g, '');
  const opened = outsideStrings.match(/[[{]/g)?.length ?? 0;
  return opened > (outsideStrings.match(/[\]}]/g)?.length ?? 0);
}
