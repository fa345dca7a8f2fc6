/** What the beginning of delimited text shows: its delimiter, and where its rows begin. */

import { type Delimiter, delimiters } from '../../../base/text/delimiter.ts';
import { fieldNameOf, requiredNames } from '../../operation/field-names.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Preamble, TextBeginning } from '../manifest-format.ts';
import { syntaxMistake, TextMistake } from '../text/mistake.ts';

export function delimiterIn({ text, isComplete, preamble, hint }: TextBeginning): Delimiter {
  return preamble.delimiter ?? detectDelimiter(text, isComplete, hint === 'tsv' ? '\t' : ',');
}

/** Refuses a text that begins with a title. @throws TextMistake when a title precedes the column names */
export function refuseTitle({ text, source, preamble }: TextBeginning, skipLines: number): void {
  const titles = titleLines(cutLines(text), identifierTest(source.context?.operations));
  if (titles > 0) throw headerBelow(`on line ${preamble.lines + titles + 1}`, skipLines + titles);
}

const sampledRecords = 20;

/**
 * The character that splits the header into several cells, and the most of the first records into as many; among equals, the one with more
 * cells. Ignores quoted text.
 *
 * @param head beginning of the text; unless `complete`, its last record is ignored
 */
export function detectDelimiter(head: string, complete: boolean, fallback: Delimiter): Delimiter {
  let best = { delimiter: fallback, agreement: 0, cells: 1 };
  for (const delimiter of [fallback, ...delimiters]) {
    const [header = 1, ...others] = countCells(head, complete, delimiter);
    if (header < 2) continue;
    const agreeing = others.filter((cells) => cells === header).length;
    const agreement = others.length === 0 ? 1 : agreeing / others.length;
    if (agreement > best.agreement || (agreement === best.agreement && header > best.cells)) {
      best = { delimiter, agreement, cells: header };
    }
  }
  return best.delimiter;
}

/** The number of cells of each record that is not blank, 0 where text follows a closing quote. */
function countCells(text: string, complete: boolean, delimiter: Delimiter): readonly number[] {
  const counts: number[] = [];
  let cells = 1;
  let cellStart = 0;
  let recordStart = 0;
  let quoted = false;
  let broken = false;
  for (let index = 0; index < text.length && counts.length < sampledRecords; index++) {
    const character = text[index];
    if (quoted) {
      // A doubled quote closes a cell, and opens the cell again at once.
      if (character === '"') quoted = false;
    } else if (character === '"' && (index === cellStart || text[index - 1] === '"')) {
      quoted = true;
    } else if (character === delimiter) {
      cells++;
      cellStart = index + 1;
    } else if (character === '\n' || character === '\r') {
      if (index > recordStart) counts.push(broken ? 0 : cells);
      cells = 1;
      broken = false;
      cellStart = recordStart = index + 1;
    } else if (text[cellStart] === '"') {
      broken = true;
    }
  }
  if (complete && recordStart < text.length && counts.length < sampledRecords)
    counts.push(broken ? 0 : cells);
  return counts;
}

/**
 * @param head beginning of the text
 * @throws TextMistake when `sep=` names an unknown delimiter, or the lines exceed the head
 */
export function readPreamble(head: string, skipLines: number, complete: boolean): Preamble {
  const [line, named] = /^"?sep=([^\r\n])"?(?:\r\n|\n|\r)/i.exec(head) ?? [];
  const delimiter = delimiters.find((each) => each === named);
  if (named !== undefined && delimiter === undefined) {
    const problem = `"sep=${named}" is not a known delimiter; use comma, semicolon, tab or |`;
    throw syntaxMistake({ line: 1, column: 1 }, problem);
  }
  let end = line?.length ?? 0;
  for (let skipped = 0; skipped < skipLines; skipped++) {
    const rest = /\r\n|\n|\r/.exec(head.slice(end));
    if (rest === null) {
      const what = complete
        ? 'no line is left after the skipped lines'
        : 'the skipped lines are longer than 64 KiB';
      throw new TextMistake('MANIFEST_EMPTY', undefined, `${what} (--skip-lines ${skipLines})`);
    }
    end += rest.index + rest[0].length;
  }
  return { length: end, lines: skipLines + (line === undefined ? 0 : 1), delimiter };
}

const sampledLines = 12;

/**
 * Guesses how many lines precede the column names, as in exports that begin with a title.
 *
 * @param lines cells of the first lines, split at each delimiter
 * @param isName whether the header has this name; headers without such names are recognized by their form
 */
export function titleLines(
  lines: readonly (readonly (readonly string[])[])[],
  isName: (cell: string) => boolean,
): number {
  const first = lines.slice(0, sampledLines);
  const isHeader = (cuts: readonly (readonly string[])[]): boolean =>
    cuts.some((cells) => cells.some(isName));
  const named = first.findIndex(isHeader);
  if (named >= 0) return named;
  const isTitle = first[0]?.every((cells) => filledCells(cells).length === 1) === true;
  const next = first.findIndex(
    (cuts, index) => index > 0 && cuts.some((cells) => filledCells(cells).length > 0),
  );
  const looksLikeHeader = first[next]?.some(
    (cells) => filledCells(cells).length > 1 && !cells.some((cell) => /\d/.test(cell)),
  );
  return isTitle && looksLikeHeader ? next : 0;
}

function filledCells(cells: readonly string[]): readonly string[] {
  // A line of delimiters only is one cell when split at another delimiter, so delimiters alone don't fill a cell.
  return cells.filter((cell) => /[^\s;,|]/.test(cell));
}

/** The first lines, split at each delimiter, even inside quotes. Empty when a cell of the first line continues on the next. */
export function cutLines(text: string): readonly (readonly (readonly string[])[])[] {
  const lines = text.split(/\r\n|\n|\r/, sampledLines);
  const goesOn = ((lines[0]?.split('"').length ?? 1) - 1) % 2 === 1;
  if (goesOn) return [];
  return lines.map((line) =>
    delimiters.map((delimiter) => line.split(delimiter).map((cell) => cell.replace(/^"(.*)"$/, '$1'))),
  );
}

/** Returns a test for names of fields that an operation requires. */
export function identifierTest(operations: readonly Operation[] = []): (cell: string) => boolean {
  const names = new Set(operations.flatMap(requiredNames));
  return (cell) => names.has(fieldNameOf(cell));
}

/** The mistake that the column names are below a title. @param where `on line 3`, `in row 3` */
export function headerBelow(where: string, skipLines: number): TextMistake {
  return new TextMistake(
    'MANIFEST_NO_HEADER',
    undefined,
    `the column names seem to be ${where}, below a title; pass --skip-lines ${skipLines}`,
  );
}
