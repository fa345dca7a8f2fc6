import { fatalError } from '../errors.ts';

/** What a sheet of Excel can hold. */
const mostRows = 1_048_576;
const mostColumns = 16_384;
const mostCharacters = 32_767;
const cutHint = '… (cut: Excel holds 32,767 characters; report.csv has all)';

/** Rows of text cells; a formula can't be among them. */
type SheetRows = AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

/** The parts of a workbook but for its sheets. */
export function workbookParts(sheets: readonly string[]): readonly (readonly [name: string, text: string])[] {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const packages = 'http://schemas.openxmlformats.org/package/2006';
  const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const each = (make: (index: number, name: string) => string) =>
    sheets.map((name, index) => make(index + 1, name)).join('');
  return [
    [
      '[Content_Types].xml',
      `${declaration}<Types xmlns="${packages}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="xml" ContentType="application/xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${main}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${main}.styles+xml"/>` +
        each(
          (n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${main}.worksheet+xml"/>`,
        ) +
        '</Types>',
    ],
    [
      '_rels/.rels',
      `${declaration}<Relationships xmlns="${packages}/relationships">` +
        `<Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${declaration}<workbook xmlns="${spreadsheet}" xmlns:r="${office}"><sheets>` +
        each((n, name) => `<sheet name="${name}" sheetId="${n}" r:id="rId${n}"/>`) +
        '</sheets></workbook>',
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${declaration}<Relationships xmlns="${packages}/relationships">` +
        each(
          (n) => `<Relationship Id="rId${n}" Type="${office}/worksheet" Target="worksheets/sheet${n}.xml"/>`,
        ) +
        `<Relationship Id="styles" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    ],
    ['xl/styles.xml', styles],
  ];
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** The styles of cells, by their numbers: 1 is text, so that Excel takes nothing typed there for a number; 2 is bold, too. */
const styles =
  `${declaration}<styleSheet xmlns="${spreadsheet}">` +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs>' +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/**
 * A sheet of text cells, whose first row is a header that stays in sight and can be filtered by.
 *
 * @throws a fatal error `XLSX_TOO_LARGE` when no sheet of Excel holds so many rows or columns.
 */
export async function* sheetXml(rows: SheetRows): AsyncGenerator<string> {
  let count = 0;
  let columns: readonly string[] = [];
  let xml = '';
  for await (const cells of rows) {
    count++;
    if (count === 1) {
      columns = cells.map((_cell, index) => columnName(index));
      xml =
        `${declaration}<worksheet xmlns="${spreadsheet}"><sheetViews><sheetView workbookViewId="0">` +
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
        `<cols><col min="1" max="${cells.length}" width="20" customWidth="1"/></cols><sheetData>`;
    }
    if (count > mostRows || columns.length > mostColumns) throw tooLarge();
    const style = count === 1 ? 2 : 1;
    xml += `<row r="${count}">`;
    for (let index = 0; index < cells.length; index++) {
      const text = cells[index] as string;
      if (text === '') continue;
      xml += `<c r="${columns[index]}${count}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`;
    }
    xml += '</row>';
    if (xml.length < chunkLength) continue;
    yield xml;
    xml = '';
  }
  yield `${xml}</sheetData><autoFilter ref="A1:${columns.at(-1)}${count}"/></worksheet>`;
}

/** What comes in small pieces is packed slowly. */
const chunkLength = 65_536;

function tooLarge(): Error {
  return fatalError(
    'XLSX_TOO_LARGE',
    'A sheet of Excel holds 1,048,576 rows and 16,384 columns, and this report has more: leave out --format xlsx, and use report.csv.',
  );
}

/** `A`, `Z`, `AA` */
function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

/** What XML does not allow in a text, or does not keep; Excel writes it as `_x0007_`, and such a text itself likewise. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unfit = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/gi;
const loneSurrogate = /\p{Cs}/gu;
const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function xmlText(text: string): string {
  const held = text.length > mostCharacters ? text.slice(0, mostCharacters - cutHint.length) + cutHint : text;
  return held
    .replace(loneSurrogate, '\ufffd')
    .replace(
      unfit,
      (character) => `_x${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}_`,
    )
    .replace(/[&<>]/g, (character) => markup[character] ?? character);
}
