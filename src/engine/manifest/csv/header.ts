import { usageError } from '../../../base/errors/errors.ts';
import { isBlank, trimBlanks } from '../../../base/text/blank.ts';
import { type Delimiter, delimiters } from '../../../base/text/delimiter.ts';
import { guardColumn, unguardCell } from '../../../base/text/formula-guard.ts';
import { maxColumnNamesLength, maxColumns } from '../columns/column-names.ts';
import { syntaxMistake, TextMistake } from '../text/mistake.ts';

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

/** 0 where text follows a closing quote. Leaves out blank records. */
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
      // A doubled quote closes and opens again at once.
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

export interface Preamble {
  /** In characters. */
  readonly length: number;
  readonly lines: number;
  /** From a first line `sep=;`, which spreadsheets write and read. */
  readonly delimiter?: Delimiter | undefined;
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
  const isTitle = first[0]?.every((cells) => filled(cells).length === 1) === true;
  const next = first.findIndex((cuts, index) => index > 0 && cuts.some((cells) => filled(cells).length > 0));
  const looksLikeHeader = first[next]?.some(
    (cells) => filled(cells).length > 1 && !cells.some((cell) => /\d/.test(cell)),
  );
  return isTitle && looksLikeHeader ? next : 0;
}

function filled(cells: readonly string[]): readonly string[] {
  // A line of only delimiters is one cell when split at another delimiter.
  return cells.filter((cell) => /[^\s;,|]/.test(cell));
}

/** Splits even inside quotes; empty when a cell of the first line continues. */
export function cutLines(text: string): readonly (readonly (readonly string[])[])[] {
  const lines = text.split(/\r\n|\n|\r/, sampledLines);
  const goesOn = ((lines[0]?.split('"').length ?? 1) - 1) % 2 === 1;
  if (goesOn) return [];
  return lines.map((line) =>
    delimiters.map((delimiter) => line.split(delimiter).map((cell) => cell.replace(/^"(.*)"$/, '$1'))),
  );
}

export interface CsvHeader {
  readonly names: readonly string[];
  readonly indexes: readonly number[];
  /** Cells that each record must have. */
  readonly width: number;
  /** Must be empty. */
  readonly unnamed: readonly number[];
  /** Of the column that marks guarded rows, or -1; see `formula-guard.ts`. */
  readonly guardedIndex: number;
  readonly commas: boolean;
}

/**
 * Leaves out the report's own columns, whose names start with `_`.
 *
 * @param kept own columns to keep
 * @throws CqbatchError (`usage`) when the record has no names, repeats a name, or looks like data
 */
export function readCsvHeader(
  record: { readonly cells: readonly string[]; readonly line: number },
  file: string,
  clearToken: string,
  kept: readonly string[] = [],
): CsvHeader {
  const { cells, line } = record;
  const fail = (code: string, problem: string) => usageError(code, `${file}:${line}: ${problem}`);
  const commas = cells.includes(guardColumn(';'));
  const guardedIndex = cells.indexOf(guardColumn(commas ? ';' : ','));
  const titles = guardedIndex < 0 ? cells : cells.map((cell) => unguardCell(cell, { clearToken, commas }));
  const indexByName = new Map<string, number>();
  const unnamed: number[] = [];
  if (titles.length > maxColumns || titles.join('').length > maxColumnNamesLength) {
    throw fail(
      'MANIFEST_TOO_MANY_COLUMNS',
      `more than ${maxColumns} columns, or column names longer than 1 MiB`,
    );
  }
  for (const [index, title] of titles.entries()) {
    const earlier = indexByName.get(title);
    if (isBlank(title)) unnamed.push(index);
    else if (trimBlanks(title).startsWith('_') && !kept.includes(title)) continue;
    else if (earlier === undefined) indexByName.set(title, index);
    else {
      throw fail(
        'MANIFEST_DUPLICATE_COLUMN',
        `columns ${earlier + 1} and ${index + 1} are both called "${title}"; rename or delete one`,
      );
    }
  }
  if (indexByName.size === 0) {
    throw fail('MANIFEST_NO_HEADER', 'the first line has no column names; add them');
  }
  // A file written by a report certainly has a header.
  if (guardedIndex < 0 && /^\d+$/.test(trimBlanks(titles[0] ?? ''))) {
    throw fail(
      'MANIFEST_NO_HEADER',
      `the first line looks like data ("${titles[0]}"); it must have the column names, such as evaluation_id`,
    );
  }
  return {
    names: [...indexByName.keys()],
    indexes: [...indexByName.values()],
    width: titles.length,
    unnamed,
    guardedIndex,
    commas,
  };
}
