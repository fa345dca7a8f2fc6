import type { OpenOptions, RowReader, TextBeginning } from '../manifest-format.ts';
import { optionUnsuitable, syntaxMistake } from '../text/mistake.ts';
import { readText } from '../text/source.ts';
import { isJsonObjectText, objectWithRows } from './beginning.ts';
import { readWhole } from './document.ts';
import { ColumnList, readJsonLines, readJsonRows } from './rows.ts';
import { readWrapper } from './wrapper.ts';

/**
 * Opens JSON: an array of rows, or an object that has them in a member. An object on one line without that member is a single row of JSON
 * Lines.
 *
 * @throws TextMistake for other JSON
 */
export async function openJson(beginning: TextBeginning, options: OpenOptions): Promise<RowReader> {
  const { source, text, rowsAt } = beginning;
  const isObject = isJsonObjectText(text);
  if (!isObject && rowsAt !== undefined) throw optionUnsuitable('--rows-at', objectWithRows);
  if (!isObject && !/^\s*\[/.test(text)) {
    const offset = source.start + Buffer.byteLength(text.slice(0, text.search(/\S/)));
    throw syntaxMistake(offset, 'a JSON manifest must begin with [ or {');
  }
  const bytes = await readWhole(readText(source));
  const path = rowsAt?.split('.');
  // The place of the rows in an object is known only at the end of its text.
  const facts = isObject ? readWrapper(bytes, { offset: source.start, path }) : {};
  if (facts === undefined) return openJsonLines(beginning, options);
  const columns = new ColumnList(source.name);
  const document = { outer: isObject ? ('object' as const) : ('array' as const), path, offset: source.start };
  return {
    facts,
    columns: () => columns.names,
    rows: () => readJsonRows(bytes, document, columns, options.trim ?? false),
  };
}

export async function openJsonLines(
  { source }: TextBeginning,
  { trim = false }: OpenOptions,
): Promise<RowReader> {
  const columns = new ColumnList(source.name);
  return {
    facts: { format: 'jsonl' },
    columns: () => columns.names,
    rows: (text) => readJsonLines(text, columns, trim),
  };
}
