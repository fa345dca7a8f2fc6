import type { ColumnDef, ReadOptions, Sheet } from 'hucre/xlsx';
import { isBlank } from '../../../base/text/blank.ts';
import { count, size } from '../../../base/text/format.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import { excerpt } from '../../rows/problem.ts';
import { headerBelow, identifierTest, titleLines } from '../csv/beginning.ts';
import type { CsvRecord } from '../csv/rows.ts';
import type { Manifest, ReadingOptions } from '../manifest.ts';
import { manifestTooLarge, maxRecordBytes, type Position, TextMistake } from '../text/mistake.ts';
import { readBytes, type TextSource } from '../text/source.ts';
import { unpackedBytes } from './archive.ts';
import { type CellFormats, columnLetters, readCell } from './cell.ts';

/** The records of a sheet. Their line numbers are Excel's row numbers. */
export interface SheetRecords {
  readonly name: string;
  readonly otherSheets: readonly string[];
  /** The records, the header first. All are as wide as the header. */
  readonly records: readonly CsvRecord[];
  readonly hidden: NonNullable<Manifest['sheet']>['hidden'];
  readonly hiddenColumns: ReadonlySet<number>;
}

type RowDef = NonNullable<ReturnType<NonNullable<Sheet['rowDefs']>['get']>>;
type SheetFilter = Extract<ReadOptions['sheets'], (...args: never) => unknown>;
type SheetFilterInfo = Parameters<SheetFilter>[0];

/** The most bytes of the file, of its unpacked parts and of all texts: a workbook in memory takes several times its unpacked size. */
const maxUnpackedBytes = 300_000_000;

const maxRows = 1_048_576;

/** The most cells of a table, including empty ones. */
const maxCells = 20_000_000;

/** The number of rows in which the header is looked for: a title may precede it. */
const sampledRows = 12;

export interface SheetChoice {
  readonly wanted: string | undefined;
  readonly skipLines: number;
  readonly hidden: ReadingOptions['hidden'];
}

/**
 * Reads a sheet of an Excel workbook (`.xlsx`), as wide as its header.
 *
 * @throws TextMistake when the file is not a workbook, the sheet does not exist, or rows are hidden and `hidden` does not say what that
 *   means; CqbatchError (`usage`) when it is too large
 */
export async function readSheet(
  source: TextSource,
  { wanted, skipLines, hidden }: SheetChoice,
): Promise<SheetRecords> {
  const archive = await readArchive(source);
  const bytes = unpackedBytes(archive);
  if (bytes === undefined) throw unreadableWorkbook('its directory is damaged');
  const limit = source.context?.maxBytes ?? Number.POSITIVE_INFINITY;
  if (bytes > limit) throw manifestTooLarge(source.name, 'the unpacked workbook', limit);
  if (bytes > maxUnpackedBytes) throw workbookTooLarge('this workbook unpacks to');
  const infos: SheetFilterInfo[] = [];
  const list: SheetFilter = (info) => {
    infos.push(info);
    return false;
  };
  await withLibrary(({ readXlsx }) => readXlsx(archive, { sheets: list }));
  const isName = identifierTest(source.context?.operations);
  for (const index of candidateSheets(infos, wanted)) {
    const width = await withLibrary((library) => headerWidth(library, archive, index, skipLines, isName));
    if (width === 0 && wanted === undefined) continue;
    const { name = '' } = infos[index] ?? {};
    const otherSheets = infos.filter((info) => info.index !== index).map((info) => info.name);
    if (width === 0) return { name, otherSheets, records: [], hidden: undefined, hiddenColumns: new Set() };
    // The range ends with the table: cells to the right of it are notes, and would widen every row.
    const range = `A1:${columnLetters(width - 1)}${maxRows}`;
    const options = { sheets: [index], range, readStyles: true };
    const { sheets, dateSystem } = await withLibrary(({ readXlsx }) => readXlsx(archive, options));
    const [sheet] = sheets;
    if (sheet === undefined) throw unreadableWorkbook('the sheet is missing');
    const formats = { ...(await import('./cell-format.ts')), is1904: dateSystem === '1904' };
    const records = recordsOf(sheet, width, skipLines, formats);
    return {
      name,
      otherSheets,
      ...withoutHidden(records, sheet, hidden),
      hiddenColumns: hiddenColumnsOf(sheet),
    };
  }
  throw new TextMistake('MANIFEST_EMPTY', undefined, lackOfRows(infos));
}

function lackOfRows(infos: readonly SheetFilterInfo[]): string {
  const unseen = infos
    .filter(({ hidden, veryHidden }) => hidden || veryHidden)
    .map(({ name }) => `"${excerpt(name)}"`);
  if (unseen.length === 0) return 'no sheet of this workbook has rows';
  return `no visible sheet of this workbook has rows; choose a hidden one with --sheet: ${unseen.join(', ')}`;
}

async function readArchive(source: TextSource): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readBytes(source)) {
    bytes += chunk.length;
    if (bytes > maxUnpackedBytes) throw workbookTooLarge('this workbook has');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

type Library = typeof import('hucre/xlsx');

/** Loads the library for workbooks, which is large, only when a file is one. */
async function withLibrary<Result>(read: (library: Library) => Promise<Result>): Promise<Result> {
  const library = await import('hucre/xlsx');
  try {
    return await read(library);
  } catch (error) {
    if (error instanceof TextMistake) throw error;
    throw unreadableWorkbook(error instanceof Error ? error.message : String(error));
  }
}

/**
 * The width of the header in columns; 0 without rows.
 *
 * @param isName whether a cell is named like a field that every header must have
 * @throws TextMistake when a title precedes the header, or too many cells would be in memory
 */
async function headerWidth(
  { streamXlsxRows }: Library,
  archive: Buffer,
  sheet: number,
  skipLines: number,
  isName: (cell: string) => boolean,
): Promise<number> {
  const first: { readonly line: number; readonly cells: readonly string[] }[] = [];
  let titles = 0;
  let width = 0;
  for await (const { index, values } of streamXlsxRows(archive, { sheet })) {
    if (width * index > maxCells) {
      const problem = `this sheet has more than ${count(maxCells)} cells, too large to read into memory; save it as "CSV UTF-8"`;
      throw new TextMistake('MANIFEST_TOO_LARGE', undefined, problem);
    }
    if (index < skipLines || first.length === sampledRows) continue;
    const cells = values.map((value) => readCell(value, undefined).text);
    const filled = cells.findLastIndex((cell) => cell !== '') + 1;
    if (filled > 0) first.push({ line: index + 1, cells: cells.slice(0, filled) });
    titles = titleLines(
      first.map((row) => [row.cells]),
      isName,
    );
    width = first[titles]?.cells.length ?? 0;
    // Rows of a narrow table fit into memory, however many there are.
    if (first.length === sampledRows && width * maxRows <= maxCells) break;
  }
  const header = first[titles];
  if (titles > 0 && header !== undefined) throw headerBelow(`in row ${header.line}`, header.line - 1);
  return width;
}

function unreadableWorkbook(reason: string): TextMistake {
  return new TextMistake(
    'MANIFEST_WORKBOOK_UNREADABLE',
    undefined,
    `this can't be read as an Excel workbook (${excerpt(reason)}); save it as .xlsx again, or as "CSV UTF-8"`,
  );
}

function workbookTooLarge(what: string, at?: Position): TextMistake {
  const problem = `${what} more than ${size(maxUnpackedBytes)}, too large to read into memory; save it as "CSV UTF-8"`;
  return new TextMistake('MANIFEST_TOO_LARGE', at, problem);
}

function candidateSheets(infos: readonly SheetFilterInfo[], wanted: string | undefined): readonly number[] {
  if (wanted === undefined) {
    return infos.filter(({ hidden, veryHidden }) => !hidden && !veryHidden).map(({ index }) => index);
  }
  const alike = infos.filter(({ name }) => fieldNameOf(name) === fieldNameOf(wanted));
  const named = infos.find(({ name }) => name === wanted) ?? (alike.length === 1 ? alike[0] : undefined);
  const numbered = /^\d+$/.test(wanted) ? infos[Number(wanted) - 1] : undefined;
  const found = named ?? numbered;
  if (found !== undefined) return [found.index];
  const names = infos.map(({ name }) => `"${excerpt(name)}"`).join(', ');
  const what =
    alike.length > 1 ? `${alike.length} sheets are alike` : `there is no sheet "${excerpt(wanted)}"`;
  throw new TextMistake(
    'MANIFEST_NO_SHEET',
    undefined,
    `${what}; the workbook has ${names}: pass one of these names, or a number from 1`,
  );
}

/** The rows without hidden ones. @throws TextMistake (`MANIFEST_HIDDEN_ROWS`) when the user does not say what hidden rows mean */
function withoutHidden(
  records: readonly CsvRecord[],
  { rowDefs }: Sheet,
  rule: SheetChoice['hidden'],
): Pick<SheetRecords, 'records' | 'hidden'> {
  const isHidden = ({ line }: CsvRecord, index: number): boolean =>
    index > 0 && isInvisible(rowDefs?.get(line - 1));
  const hidden = records.filter(isHidden);
  const [first] = hidden;
  if (first === undefined) return { records, hidden: undefined };
  if (rule === undefined) {
    const problem =
      `${hidden.length} of the ${records.length - 1} rows of this sheet are hidden, as by a filter (first: row ${first.line}): ` +
      'pass --hidden skip to leave them out, or --hidden include to read them, too';
    throw new TextMistake('MANIFEST_HIDDEN_ROWS', undefined, problem);
  }
  const read = rule === 'skip' ? records.filter((record, index) => !isHidden(record, index)) : records;
  return { records: read, hidden: { rows: hidden.length, rule } };
}

function hiddenColumnsOf({ columns = [] }: Sheet): ReadonlySet<number> {
  return new Set(columns.flatMap((column, index) => (isInvisible(column) ? index : [])));
}

/** Whether a row or a column is hidden, or too small to be seen. */
function isInvisible({ hidden, height, width }: RowDef & ColumnDef = {}): boolean {
  return hidden === true || height === 0 || width === 0;
}

function recordsOf(
  { rows, cells: details }: Sheet,
  width: number,
  skipLines: number,
  formats: CellFormats,
): readonly CsvRecord[] {
  const records: CsvRecord[] = [];
  // The total length counts equal texts each time: they share memory, but each cell is read separately.
  let totalLength = 0;
  for (const [row, values] of rows.entries()) {
    const line = row + 1;
    if (line <= skipLines) continue;
    const cells: string[] = [];
    const problems = new Map<number, string>();
    let length = 0;
    for (let column = 0; column < width; column++) {
      const { text, problem } = readCell(values[column], details?.get(`${row},${column}`), formats);
      cells.push(text);
      length += text.length;
      if (problem !== undefined) problems.set(column, problem);
    }
    if (length > maxRecordBytes) {
      const problem = `this row is larger than ${maxRecordBytes} characters`;
      throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
    }
    totalLength += length;
    if (totalLength > maxUnpackedBytes) {
      throw workbookTooLarge('the cells up to this row come to', { line, column: 1 });
    }
    if (cells.every(isBlank) && problems.size === 0) continue;
    records.push({ cells, line, ...(problems.size > 0 && { problems }) });
  }
  return records;
}
