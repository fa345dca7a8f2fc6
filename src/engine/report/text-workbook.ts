/** The most columns of a sheet in Excel, characters of a cell, and rows of a sheet. */
export const mostColumns = 16_384;
export const mostCharacters = 32_767;
export const mostSheetRows = 1_048_576;

const columnWidth = 20;

export interface TextSheet {
  readonly name: string;
  readonly header: readonly string[];
  /** The rows, with texts as `escaped` returns them. */
  readonly rows: AsyncIterable<string[]>;
  /** Whether to write ZIP64, which only a part of 4 GiB needs, and LibreOffice can't read. Without it, such a part throws a `ZipError`. */
  readonly zip64: boolean;
}

/**
 * The bytes of a workbook. All cells are text, so that no number loses digits and none is a formula. Rows beyond the limit of a sheet go
 * into another sheet. Memory does not depend on the number of rows.
 */
export async function textWorkbook({
  name,
  header,
  rows,
  zip64,
}: TextSheet): Promise<AsyncIterable<Uint8Array>> {
  const { writeXlsxStream } = await import('hucre/xlsx');
  return writeXlsxStream(rows, {
    name,
    freezePane: { rows: 1 },
    // The columns have the format of text, so that Excel reads nothing that users type there as a number.
    columns: header.map((title) => ({ header: escapedCell(title), width: columnWidth, numFmt: '@' })),
    zip64,
  });
}

/**
 * Escapes a text for a cell. Excel reads `_x0041_` as `A`, and `_x005F_x0041_` as `_x0041_`. Of the characters that XML can't hold, the
 * library escapes all but U+FFFE and U+FFFF.
 */
export function escapedCell(text: string): string {
  return text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));
}
