import type { Cell, CellValue } from 'hucre/xlsx';
import { excerpt } from '../../rows/problem.ts';

export interface SheetCell {
  readonly text: string;
  readonly problem?: string;
}

/** The largest number that is certainly exact, because Excel keeps 15 digits. */
const maxExact = 999_999_999_999_999;

export interface CellFormats {
  readonly shownNumber: (value: number, format: string) => string | undefined;
  readonly shownTime: (date: Date, format: string, is1904: boolean) => string | undefined;
  readonly is1904: boolean;
}

/**
 * The text of a cell as its format shows it. If that loses information, the cell has a problem. Formulas give their stored result; dates
 * are ISO 8601.
 *
 * @param details of cells with a format, a formula or an error
 */
export function readCell(
  value: CellValue | undefined,
  details: Cell | undefined,
  formats?: CellFormats,
): SheetCell {
  if (value === null || value === undefined)
    return details?.formula === undefined ? emptyCell : uncalculatedCell;
  if (details?.type === 'error') {
    return {
      text: String(value),
      problem: 'is a spreadsheet error; fix it there or clear the cell',
    };
  }
  const format = details?.style?.numFmt;
  if (typeof value === 'number') return readNumber(value, format, formats);
  if (typeof value === 'boolean') return { text: value ? 'TRUE' : 'FALSE' };
  return value instanceof Date ? readDate(value, format, formats) : { text: value };
}

const emptyCell: SheetCell = { text: '' };

const uncalculatedCell: SheetCell = {
  text: '',
  problem: 'is a formula without a stored result; open the file in Excel, save it, and use the saved file',
};

function readNumber(value: number, format = 'General', formats: CellFormats | undefined): SheetCell {
  const digits = Number(value.toPrecision(15));
  // The result of a sum such as 0.1 + 0.2 differs in the last bits only, which no spreadsheet shows.
  const isNoise = Math.abs(digits - value) <= 4 * Number.EPSILON * Math.abs(value);
  if (Math.abs(value) > maxExact || !isNoise) {
    return {
      text: Number.isInteger(value) ? String(BigInt(value)) : String(value),
      problem:
        'is a number with more than 15 digits, which Excel does not keep; format the column as text and enter the numbers again',
    };
  }
  if (formats === undefined || /^(?:general|@)$/i.test(format.trim())) return { text: String(digits) };
  const text = formats.shownNumber(digits, format);
  return text === undefined ? cellShownOtherwise(String(digits), format) : { text };
}

function readDate(date: Date, format: string | undefined, formats: CellFormats | undefined): SheetCell {
  if (Number.isNaN(date.getTime())) return emptyCell;
  const iso = date.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
  if (formats === undefined || format === undefined) {
    // A time of day without a date counts from the day before the first date.
    const isTime = date.getUTCFullYear() < 1900;
    return { text: isTime ? iso.slice('yyyy-mm-ddT'.length) : iso.replace('T00:00:00', '') };
  }
  const text = formats.shownTime(date, format, formats.is1904);
  return text === undefined ? cellShownOtherwise(iso, format) : { text };
}

function cellShownOtherwise(text: string, format: string): SheetCell {
  const problem = `is shown in another way (format ${excerpt(format)}); format the column as text and enter what you want to send`;
  return { text, problem };
}

/** The letters of a column by its index: `A` for 0, `AA` for 26. */
export function columnLetters(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? columnLetters(rest - 1) : '') + String.fromCharCode(65 + (index % 26));
}
