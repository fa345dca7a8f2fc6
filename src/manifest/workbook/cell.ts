import type { Cell, CellValue } from 'hucre/xlsx';

/** The text of a cell, and why it can't be trusted, if so. */
export interface SheetCell {
  readonly text: string;
  readonly problem?: string;
}

/** Excel keeps 15 digits of a number. */
const maxExact = 999_999_999_999_999;

/**
 * The text of a cell. Numbers are exact or have a problem, dates are ISO 8601, and formulas give their stored result.
 *
 * @param details of cells with a formula or an error
 */
export function readCell(value: CellValue | undefined, details: Cell | undefined): SheetCell {
  if (value === null || value === undefined) return details?.formula === undefined ? empty : uncalculated;
  if (details?.type === 'error') {
    return {
      text: String(value),
      problem: 'is a spreadsheet error; fix it there or clear the cell',
    };
  }
  if (typeof value === 'number') return readNumber(value);
  if (typeof value === 'boolean') return { text: value ? 'TRUE' : 'FALSE' };
  return { text: value instanceof Date ? dateText(value) : value };
}

const empty: SheetCell = { text: '' };

const uncalculated: SheetCell = {
  text: '',
  problem: 'is a formula without a stored result; open the file in Excel, save it, and use the saved file',
};

function readNumber(value: number): SheetCell {
  if (Math.abs(value) <= maxExact) return { text: String(value) };
  return {
    text: Number.isFinite(value) ? String(BigInt(Math.trunc(value))) : String(value),
    problem:
      'is a number with more than 15 digits, which Excel does not keep; format the column as text and enter the numbers again',
  };
}

/** Excel has no time zones: use the time that it shows. */
function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day = '', time = ''] = date
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .split('T');
  // A time of day without a date counts from the day before the first date.
  if (date.getUTCFullYear() < 1900) return time;
  return time === '00:00:00' ? day : `${day}T${time}`;
}

/** Excel's name of a column: `A` for 0, `AA` for 26. */
export function columnLetters(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? columnLetters(rest - 1) : '') + String.fromCharCode(65 + (index % 26));
}

/** Signatures of a ZIP archive (APPNOTE 4.3). */
const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const maxComment = 0xffff;

/**
 * The unpacked size of a ZIP archive's members in bytes, according to its directory. Unpacking by the directory needs no more
 * memory.
 *
 * @returns undefined when the directory is unreadable or omits a size
 */
export function unpackedBytes(archive: Buffer): number | undefined {
  const end = findEnd(archive);
  if (end === undefined) return undefined;
  const entries = archive.readUInt16LE(end + 10);
  let offset = archive.readUInt32LE(end + 16);
  let total = 0;
  for (let entry = 0; entry < entries; entry++) {
    if (offset + entryLength > archive.length || archive.readUInt32LE(offset) !== directoryEntry)
      return undefined;
    const packed = archive.readUInt32LE(offset + 20);
    const unpacked = archive.readUInt32LE(offset + 24);
    if (unpacked === 0xffffffff || (unpacked === 0 && packed > 2)) return undefined;
    total += unpacked;
    const nameLength = archive.readUInt16LE(offset + 28);
    offset +=
      entryLength + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
  return total;
}

function findEnd(archive: Buffer): number | undefined {
  const last = archive.length - endLength;
  for (let offset = last; offset >= Math.max(0, last - maxComment); offset--) {
    if (archive.readUInt32LE(offset) === endOfDirectory) return offset;
  }
  return undefined;
}
