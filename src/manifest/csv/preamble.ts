import { TextMistake } from '../text/position.ts';
import { type Delimiter, delimiters } from './delimiter.ts';

/** What stands before the header of delimited text. */
export interface Preamble {
  /** In characters. */
  readonly length: number;
  readonly lines: number;
  /** What a first line `sep=;` says, which spreadsheets write and read. */
  readonly delimiter?: Delimiter;
}

/**
 * Finds the end of what stands before the header: a line `sep=;`, and lines that the user says are to be skipped.
 *
 * @param head beginning of the text.
 * @throws TextMistake when `sep=` names something unknown, or the lines don't end within the head.
 */
export function readPreamble(head: string, skipLines: number, complete: boolean): Preamble {
  const [line, said] = /^"?sep=([^\r\n])"?(?:\r\n|\n|\r)/i.exec(head) ?? [];
  const delimiter = delimiters.find((known) => known === said);
  if (said !== undefined && delimiter === undefined) {
    throw new TextMistake(
      'MANIFEST_SYNTAX',
      { line: 1, column: 1 },
      `"sep=${said}" names no delimiter that can be read; known are comma, semicolon, tab and |`,
    );
  }
  let end = line?.length ?? 0;
  for (let skipped = 0; skipped < skipLines; skipped++) {
    const rest = /\r\n|\n|\r/.exec(head.slice(end));
    if (rest === null) {
      const what = complete ? 'the file has no more lines' : 'the lines to skip are longer than 64 KiB';
      throw new TextMistake('MANIFEST_EMPTY', undefined, `${what} (--skip-lines ${skipLines})`);
    }
    end += rest.index + rest[0].length;
  }
  return {
    length: end,
    lines: skipLines + (line === undefined ? 0 : 1),
    ...(delimiter !== undefined && { delimiter }),
  };
}

/** How many lines may stand before the header, for it to be found. */
const sampledLines = 12;

/**
 * Guesses how many lines stand before the one with the column names, as in exports that begin with a title.
 *
 * @param lines the cells of the first lines, in each way in which they may be cut.
 * @param names of which the header has at least one, in snake_case; a header in other words is found by its form.
 * @returns 0 when the first line may be the header.
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
  // A line of delimiters only is one cell where it is cut at another delimiter.
  return cells.filter((cell) => /[^\s;,|]/.test(cell));
}

/** The lines of delimited text, cut at each delimiter, also between quotes; none when a cell of the first one goes on. */
export function cutLines(text: string): readonly (readonly (readonly string[])[])[] {
  const lines = text.split(/\r\n|\n|\r/, sampledLines);
  const goesOn = ((lines[0]?.split('"').length ?? 1) - 1) % 2 === 1;
  if (goesOn) return [];
  return lines.map((line) =>
    delimiters.map((delimiter) => line.split(delimiter).map((cell) => cell.replace(/^"(.*)"$/, '$1'))),
  );
}
