import type { ReadOptions, Sheet } from 'hucre/xlsx';
import type { CsvRecord } from '../csv/records.ts';
import { excerpt } from '../problem.ts';
import { TextMistake } from '../text/position.ts';
import { manifestTooLarge, readBytes, sizeText, type TextSource } from '../text/source.ts';
import { unpackedBytes } from './archive.ts';
import { readCell } from './cell.ts';

/** A sheet of a workbook, as records of delimited text would be: the lines are the rows that Excel shows. */
export interface SheetRecords {
  readonly name: string;
  /** How many sheets the workbook has. */
  readonly sheets: number;
  /** Rows that are not blank; all have the same number of cells. */
  readonly records: readonly CsvRecord[];
  /** Bytes after unpacking. */
  readonly bytes: number;
}

type SheetFilter = Extract<ReadOptions['sheets'], (...args: never) => unknown>;
type SheetFilterInfo = Parameters<SheetFilter>[0];

/** A workbook is read into memory as a whole, which takes several times of what it unpacks to. */
const maxUnpackedBytes = 300_000_000;

/**
 * Reads a sheet of an Excel workbook (`.xlsx`).
 *
 * @param wanted its name or its number from 1; by default the first visible one that has rows.
 * @throws TextMistake when it is no such workbook, or there is no such sheet; CqbatchError (`usage`) when it is too large.
 */
export async function readSheet(
  source: TextSource,
  wanted: string | undefined,
  recordLimit: number,
): Promise<SheetRecords> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBytes(source)) chunks.push(chunk);
  const archive = Buffer.concat(chunks);
  const bytes = unpackedBytes(archive);
  if (bytes === undefined) throw unreadable('its directory is damaged');
  refuseTooLarge(source, bytes);
  const infos: SheetFilterInfo[] = [];
  await read(archive, (info) => {
    infos.push(info);
    return false;
  });
  for (const index of candidates(infos, wanted)) {
    const [sheet] = await read(archive, (info) => info.index === index);
    const records = sheet === undefined ? [] : recordsOf(sheet, recordLimit);
    if (sheet !== undefined && (records.length > 0 || wanted !== undefined)) {
      return { name: sheet.name, sheets: infos.length, records, bytes };
    }
  }
  throw new TextMistake('MANIFEST_EMPTY', undefined, 'no sheet of this workbook has rows');
}

/** The library is large, and only workbooks need it. */
async function read(archive: Buffer, sheets: SheetFilter): Promise<readonly Sheet[]> {
  const { readXlsx } = await import('hucre/xlsx');
  try {
    return (await readXlsx(archive, { sheets })).sheets;
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

function unreadable(reason: string): TextMistake {
  return new TextMistake(
    'MANIFEST_WORKBOOK_UNREADABLE',
    undefined,
    `this can't be read as an Excel workbook (${excerpt(reason)}); save it as .xlsx again, or as "CSV UTF-8"`,
  );
}

function refuseTooLarge({ name, limits }: TextSource, bytes: number): void {
  const { maxBytes = Number.POSITIVE_INFINITY } = limits ?? {};
  if (bytes > maxBytes) throw manifestTooLarge(name, 'the unpacked workbook', maxBytes);
  if (bytes <= maxUnpackedBytes) return;
  throw new TextMistake(
    'MANIFEST_TOO_LARGE',
    undefined,
    `this workbook unpacks to more than ${sizeText(maxUnpackedBytes)}, which are read into memory; save it as "CSV UTF-8"`,
  );
}

/** The indexes of the sheets to be tried. */
function candidates(infos: readonly SheetFilterInfo[], wanted: string | undefined): readonly number[] {
  if (wanted === undefined) {
    return infos.filter(({ hidden, veryHidden }) => !hidden && !veryHidden).map(({ index }) => index);
  }
  const named =
    infos.find(({ name }) => name === wanted) ?? infos.find(({ name }) => name.trim() === wanted.trim());
  const numbered = /^\d+$/.test(wanted) ? infos[Number(wanted) - 1] : undefined;
  const found = named ?? numbered;
  if (found !== undefined) return [found.index];
  const names = infos.map(({ name }) => `"${excerpt(name)}"`).join(', ');
  throw new TextMistake(
    'MANIFEST_NO_SHEET',
    undefined,
    `there is no sheet "${excerpt(wanted)}"; the workbook has ${names}: name one, or give its number from 1`,
  );
}

function recordsOf({ rows, cells: details }: Sheet, recordLimit: number): readonly CsvRecord[] {
  const records: { cells: string[]; line: number; problems?: Map<number, string> }[] = [];
  let width = 0;
  for (const [row, values] of rows.entries()) {
    const cells: string[] = [];
    const problems = new Map<number, string>();
    let length = 0;
    for (const [column, value] of values.entries()) {
      const { text, problem } = readCell(value, details?.get(`${row},${column}`));
      cells.push(text);
      length += text.length;
      if (problem !== undefined) problems.set(column, problem);
      if (text !== '' || problem !== undefined) width = Math.max(width, column + 1);
    }
    const line = row + 1;
    if (length > recordLimit) {
      const problem = `this row is larger than ${recordLimit} characters`;
      throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', { line, column: 1 }, problem);
    }
    if (length === 0 && problems.size === 0) continue;
    records.push({ cells, line, ...(problems.size > 0 && { problems }) });
  }
  for (const { cells } of records) {
    cells.length = Math.min(cells.length, width);
    while (cells.length < width) cells.push('');
  }
  return records;
}
