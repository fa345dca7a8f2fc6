import { usageError } from '../../../base/errors/errors.ts';
import { isJsonObject } from '../../../base/text/json.ts';
import { excerpt } from '../../rows/problem.ts';
import { maxColumnNamesLength, maxColumns } from '../columns/column-names.ts';
import { Cells, type UnnumberedRow } from '../manifest.ts';
import { maxRecordBytes, TextMistake } from '../text/mistake.ts';
import { type DocumentOptions, JsonDocument } from './document.ts';
import { joiningCommand } from './page.ts';
import { parsePiece, valueAt } from './piece.ts';

const rowsAtOnce = 500;

/**
 * Reads the rows of `[ rows ]` or `{ "rows": [ rows ] }`.
 *
 * @throws TextMistake where the text is not JSON, or an object repeats a name
 */
export async function* readJsonRows(
  bytes: Buffer,
  options: DocumentOptions,
  columns: ColumnList,
  trim = false,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  let rows: UnnumberedRow[] = [];
  for (const { text, line, offset } of new JsonDocument(bytes, options).rows()) {
    rows.push(jsonRow(valueAt(text, offset), line, columns, trim));
    if (rows.length < rowsAtOnce) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

/**
 * Reads the rows of JSON Lines (jsonlines.org). A line that is not JSON, or repeats a name, becomes a row with a problem.
 *
 * @throws TextMistake (`MANIFEST_RECORD_TOO_LARGE`), checked once per chunk
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Buffer>,
  columns: ColumnList,
  trim = false,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  for await (const lines of splitLines(chunks)) {
    yield lines.map(({ text, line }) => {
      const parsed = parsePiece(text);
      if (parsed.ok) return jsonRow(parsed.value, line, columns, trim);
      const [first, next] = [text.slice(0, parsed.index), text.charAt(parsed.index)];
      const isJoined = next === '{' && /\}\s*$/.test(first) && parsePiece(first).ok;
      const what = isJoined
        ? `has another object behind the first; make one array of all: ${joiningCommand('rows')}`
        : parsed.code === 'MANIFEST_SYNTAX'
          ? `is not JSON: ${parsed.problem}`
          : parsed.problem;
      const column = [...text.slice(0, parsed.index)].length + 1;
      const problem = `${what} (character ${column} of the line)`;
      return { line, cells: new Cells(), problem: { problem, value: excerpt(text.trim()) } };
    });
  }
}

interface TextLine {
  readonly text: string;
  readonly line: number;
}

/** Splits text into lines without blank ones, one array per chunk. */
async function* splitLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly TextLine[], void, undefined> {
  let line = 1;
  let rest = '';
  let restBytes = 0;
  let endedWithReturn = false;
  for await (const chunk of chunks) {
    const isSplitEnd = endedWithReturn && chunk[0] === lineFeed;
    endedWithReturn = chunk.at(-1) === carriageReturn;
    const [first = '', ...others] = chunk.toString('utf8', isSplitEnd ? 1 : 0).split(/\r\n|\n|\r/);
    const texts = [rest + first, ...others];
    rest = texts.pop() ?? '';
    restBytes = texts.length === 0 ? restBytes + chunk.length : Buffer.byteLength(rest);
    yield texts.map((text, index) => ({ text, line: line + index })).filter(isFilled);
    line += texts.length;
    if (restBytes <= maxRecordBytes) continue;
    const problem = `this line is larger than ${maxRecordBytes} bytes`;
    throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
  }
  yield [{ text: rest, line }].filter(isFilled);
}

function isFilled({ text }: TextLine): boolean {
  return /\S/.test(text);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function jsonRow(value: unknown, line: number, columns: ColumnList, trim: boolean): UnnumberedRow {
  const cells = new Cells();
  if (!isJsonObject(value)) {
    return {
      line,
      cells,
      problem: { problem: 'is not a JSON object; write {"column": value, …}', value: excerpt(value) },
    };
  }
  for (const [name, cell] of Object.entries(value)) {
    if (name.startsWith('_')) continue;
    columns.add(name);
    const text = trim && typeof cell === 'string' ? cell.trim() : cell;
    // A cell of blanks is left out, but an empty string is kept: it was intended.
    if (text !== '' || cell === '') cells[name] = text;
  }
  return { line, cells };
}

/** The names of columns in order of first appearance, bounded in memory. */
export class ColumnList {
  readonly #nameSet = new Set<string>();
  readonly #file: string;
  #names: readonly string[] = [];
  #length = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** The names of the columns. The array is the same while no name is added. */
  get names(): readonly string[] {
    if (this.#names.length < this.#nameSet.size) this.#names = [...this.#nameSet];
    return this.#names;
  }

  /** Adds a name. @throws CqbatchError (`usage`, `MANIFEST_TOO_MANY_COLUMNS`) */
  add(name: string): void {
    if (this.#nameSet.has(name)) return;
    this.#nameSet.add(name);
    this.#length += name.length;
    if (this.#nameSet.size > maxColumns || this.#length > maxColumnNamesLength) {
      throw usageError(
        'MANIFEST_TOO_MANY_COLUMNS',
        `${this.#file}: the rows have more than ${maxColumns} different columns, or column names longer than 1 MiB`,
      );
    }
  }
}
