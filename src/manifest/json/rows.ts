import { Cells } from '../cells.ts';
import { excerpt } from '../excerpt.ts';
import type { ManifestRow } from '../row.ts';
import { splitLines } from '../text/lines.ts';
import { TextMistake } from '../text/mistake.ts';
import type { ColumnList } from './column-list.ts';
import { isJsonObject, parsePiece } from './piece.ts';
import { JsonWalker, type JsonWalkerOptions } from './walker.ts';

/** A row that has not been numbered yet. */
export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/**
 * Reads the rows of `[ rows ]` or `{ "rows": [ rows ] }`.
 *
 * @throws TextMistake where the text is not JSON, or an object has a name twice.
 */
export async function* readJsonRows(
  chunks: AsyncIterable<Buffer>,
  options: Omit<JsonWalkerOptions, 'skipElements'>,
  columns: ColumnList,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  const walker = new JsonWalker({ ...options, skipElements: false });
  for await (const chunk of chunks) {
    const rows: UnnumberedRow[] = [];
    for (const { key, text, line, offset } of walker.push(chunk)) {
      if (key !== undefined) continue;
      const parsed = parsePiece(text);
      if (!parsed.ok) {
        const before = Buffer.byteLength(text.slice(0, parsed.index));
        throw new TextMistake(parsed.code, offset + before, parsed.problem);
      }
      rows.push(jsonRow(parsed.value, line, columns));
    }
    yield rows;
  }
  walker.end();
}

/** Reads the rows of JSON Lines (jsonlines.org). A line that is not JSON, or has a name twice, is a row with a problem. */
export async function* readJsonLines(
  chunks: AsyncIterable<Buffer>,
  options: { readonly offset: number; readonly limit: number },
  columns: ColumnList,
): AsyncGenerator<readonly UnnumberedRow[], void, undefined> {
  for await (const lines of splitLines(chunks, options)) {
    yield lines.map(({ text, line }) => {
      const parsed = parsePiece(text);
      if (parsed.ok) return jsonRow(parsed.value, line, columns);
      const what = parsed.code === 'MANIFEST_SYNTAX' ? `is not JSON: ${parsed.problem}` : parsed.problem;
      const column = [...text.slice(0, parsed.index)].length + 1;
      const problem = `${what} (character ${column} of the line)`;
      return { line, cells: new Cells(), problem: { problem, value: excerpt(text.trim()) } };
    });
  }
}

function jsonRow(value: unknown, line: number, columns: ColumnList): UnnumberedRow {
  const cells = new Cells();
  if (!isJsonObject(value)) {
    return {
      line,
      cells,
      problem: { problem: 'is no JSON object with a member for each column', value: excerpt(value) },
    };
  }
  for (const [name, cell] of Object.entries(value)) {
    if (name.startsWith('_')) continue;
    columns.add(name);
    cells[name] = cell;
  }
  return { line, cells };
}
