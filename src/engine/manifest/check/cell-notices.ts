import { counted } from '../../../base/text/format.ts';
import { hasLostCharacters, textBeforeMisreading } from '../../../base/text/lost-characters.ts';
import { isWordForNothing } from '../../../base/text/no-value.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { excerpt, positionText, type RowPosition } from '../../rows/problem.ts';
import type { ScanWarning } from '../columns/column-advice.ts';
import type { PreparedCall } from '../columns/row-preparer.ts';
import type { UnexpectedValue } from '../columns/row-problems.ts';
import type { ManifestRow } from '../manifest.ts';

const namedWords = 5;

const asciiOnly = /^[\0-\x7f]*$/;

interface Sample {
  cells: number;
  readonly first: RowPosition;
  readonly cell: string;
}

function noteCell(samples: Map<string, Sample>, column: string, found: Omit<Sample, 'cells'>): void {
  const sample = samples.get(column) ?? { ...found, cells: 0 };
  sample.cells++;
  samples.set(column, sample);
}

/** Counts valid but probably unintended cells, by field or column. */
export class CellNotices {
  readonly #padded = new Map<string, NotedRows>();
  readonly #nothing = new Map<string, { cells: number; readonly words: Set<string> }>();
  readonly #unexpected = new Map<
    string,
    { readonly value: UnexpectedValue; readonly first: RowPosition; cells: number }
  >();
  readonly #damaged = new Map<string, Sample>();
  readonly #misread = new Map<string, Sample>();
  #largeNumbers: NotedRows | undefined;

  noteRead({ row, line, cells }: Pick<ManifestRow, 'row' | 'line' | 'cells'>): void {
    for (const column in cells) {
      const cell = cells[column];
      if (typeof cell !== 'string' || asciiOnly.test(cell)) continue;
      if (hasLostCharacters(cell)) noteCell(this.#damaged, column, { first: { row, line }, cell });
      if (textBeforeMisreading(cell) !== undefined)
        noteCell(this.#misread, column, { first: { row, line }, cell });
    }
  }

  noteSent({ row, line, values, paddedField, unexpectedValues = [], mayBeRounded }: PreparedCall): void {
    if (mayBeRounded) {
      this.#largeNumbers ??= { rows: 0, first: { row, line } };
      this.#largeNumbers.rows++;
    }
    for (const field in values) {
      const text = values[field];
      if (text !== undefined && isWordForNothing(text)) this.#noteNothing(field, text);
    }
    if (paddedField !== undefined) noteRow(this.#padded, paddedField, { row, line });
    for (const value of unexpectedValues) {
      const { name, expected } = value;
      const tally = this.#unexpected.get(name + expected) ?? { value, first: { row, line }, cells: 0 };
      tally.cells++;
      this.#unexpected.set(name + expected, tally);
    }
  }

  #noteNothing(field: string, word: string): void {
    const tally = this.#nothing.get(field) ?? { cells: 0, words: new Set<string>() };
    tally.cells++;
    if (tally.words.size <= namedWords) tally.words.add(word);
    this.#nothing.set(field, tally);
  }

  get warnings(): readonly ScanWarning[] {
    return [
      ...[...this.#padded].map(([field, rows]) => paddingWarning(field, rows)),
      ...[...this.#nothing].map(([field, { cells, words }]) => nothingWarning(field, cells, [...words])),
      ...[...this.#unexpected.values()].map(({ value, first, cells }) =>
        unexpectedWarning(value, first, cells),
      ),
      ...[...this.#damaged].map(([column, sample]) => damageWarning(column, sample)),
      ...[...this.#misread].map(([column, sample]) => misreadingWarning(column, sample)),
      ...(this.#largeNumbers === undefined ? [] : [largeNumberWarning(this.#largeNumbers)]),
    ];
  }
}

function paddingWarning(field: string, { rows, first }: NotedRows): ScanWarning {
  const [have, which] = rows === 1 ? ['row has', ''] : ['rows have', 'first: '];
  const message =
    `${rows} ${have} white space around ${field} (${which}${positionText(first)}), which is sent too; ` +
    '--trim removes it';
  return { code: 'BLANKS_AROUND_TEXT', message };
}

function nothingWarning(field: string, cells: number, words: readonly string[]): ScanWarning {
  const named = words.slice(0, namedWords).map((word) => `\`${word}\``);
  const list = [...named, ...(words.length > namedWords ? ['…'] : [])].join(', ');
  const as = cells === 1 ? 'as it is' : 'as they are';
  const message = `${cellsOf(field, cells, ['is', 'are'])} ${list}: sent ${as}; if that means nothing, empty the cell`;
  return { code: 'WORD_FOR_NOTHING', message };
}

function unexpectedWarning(
  { name, value, expected }: UnexpectedValue,
  position: RowPosition,
  cells: number,
): ScanWarning {
  const first = value === '' ? 'an empty text' : `\`${excerpt(value)}\``;
  const message =
    `${cellsOf(name, cells, ['is', 'are'])} not ${expected} (first: ${first} in ${positionText(position)}): the API may drop or ` +
    'refuse such a value; --strict refuses its row';
  return { code: 'VALUE_UNEXPECTED', message };
}

function damageWarning(column: string, { cells, first, cell }: Sample): ScanWarning {
  const message =
    `${cellsOf(escapeInvisible(column), cells, ['lacks', 'lack'])} characters that were lost before ` +
    `(first: \`${excerpt(cell)}\` in ${positionText(first)}): export the data again`;
  return { code: 'DAMAGED_TEXT', message };
}

function misreadingWarning(column: string, { cells, first, cell }: Sample): ScanWarning {
  const message =
    `${cellsOf(escapeInvisible(column), cells, ['was', 'were'])} probably read in a wrong encoding before ` +
    `(first: \`${excerpt(cell)}\` in ${positionText(first)}, which may mean \`${excerpt(textBeforeMisreading(cell))}\`): ` +
    'export the data again, as UTF-8';
  return { code: 'MISREAD_TEXT', message };
}

function largeNumberWarning({ rows, first }: NotedRows): ScanWarning {
  const message =
    `${counted(rows, 'row', ['sends', 'send'])} a number beyond 9007199254740991 (first: ${positionText(first)}): an API that reads JSON in ` +
    'JavaScript rounds it, and may change another entry; let the operation send it as text, without BigInt, if the API takes text';
  return { code: 'NUMBER_MAY_BE_ROUNDED', message };
}

function cellsOf(column: string, cells: number, [one, more]: readonly [string, string]): string {
  return `${counted(cells, 'cell')} of ${column} ${cells === 1 ? one : more}`;
}

export interface NotedRows {
  rows: number;
  readonly first: RowPosition;
}

export function noteRow(byName: Map<string, NotedRows>, name: string, { row, line }: RowPosition): void {
  const existing = byName.get(name);
  if (existing === undefined) byName.set(name, { rows: 1, first: { row, line } });
  else existing.rows++;
}
