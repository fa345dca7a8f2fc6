import { textOfBytes } from '../../../base/text/marked-text.ts';
import { TextMistake } from './mistake.ts';

/**
 * Recognizes binary files by their first bytes.
 *
 * @throws TextMistake with the remedy
 */
export function refuseForeignFile(head: Buffer, encoding: string): void {
  const kind = foreignKinds.find(({ magic, at = 0 }) => head.subarray(at, at + magic.length).equals(magic));
  if (kind !== undefined) throw new TextMistake('MANIFEST_BINARY', undefined, kind.problem(head));
  const markup = markupProblem(textOf(head, encoding));
  if (markup !== undefined) throw new TextMistake('MANIFEST_MARKUP', undefined, markup);
  const unmarked = encoding === 'utf-8' ? unmarkedUtf16(head) : undefined;
  if (unmarked === undefined) return;
  throw new TextMistake('MANIFEST_UTF16', undefined, `this is UTF-16 text; pass --encoding ${unmarked}`);
}

function textOf(head: Buffer, encoding: string): string {
  return textOfBytes(head, unmarkedUtf16(head) ?? encoding);
}

const beginsMarkup =
  /^\s*<(?:!doctype|!--|\?xml|\?mso|html|head|meta|style|body|table|tr|div|\w+:?workbook)\b/i;

const saveAsWorkbook =
  'open it in Excel or LibreOffice, save it as "Excel Workbook (.xlsx)", and use that file';

/** The problem of a text that is HTML or XML. Many systems name such files `.xls`, because Excel opens them. */
function markupProblem(text: string): string | undefined {
  if (/^\s*MIME-Version:/i.test(text))
    return `this is a web archive, as some systems export as .xls: ${saveAsWorkbook}`;
  if (!beginsMarkup.test(text)) return undefined;
  if (/urn:schemas-microsoft-com:office:spreadsheet|progid="Excel\.Sheet"/i.test(text))
    return `this is an XML spreadsheet, as some systems export as .xls: ${saveAsWorkbook}`;
  if (/<table\b|urn:schemas-microsoft-com:office:excel/i.test(text))
    return `this is an HTML table, as many systems export as .xls: ${saveAsWorkbook}`;
  return 'this is HTML or XML, not a manifest; was it saved from a login page?';
}

/** Whether bytes begin like gzip (RFC 1952, section 2.3.1). */
export function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

interface ForeignKind {
  readonly magic: Buffer;
  readonly at?: number;
  readonly problem: (head: Buffer) => string;
}

/** Whether a file is a workbook: a ZIP archive with the names of a workbook's parts. */
export function isWorkbook(head: Buffer): boolean {
  const names = head.toString('latin1');
  return (
    names.startsWith('PK\x03\x04') && /\[Content_Types\]\.xml|xl\//.test(names) && !isOpenDocument(names)
  );
}

function isOpenDocument(names: string): boolean {
  return names.includes('opendocument.spreadsheet');
}

/** Old and encrypted workbooks are the same kind of container, whose part names are UTF-16. */
function oldExcelProblem(head: Buffer): string {
  return head.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    ? 'this workbook has a password: save a copy without one'
    : 'this is an old Excel workbook (.xls), or one with a password: save it as .xlsx without a password';
}

const unpackAdvice = (what: string) => () => `this is ${what}: unpack it and use the file inside`;

const foreignKinds: readonly ForeignKind[] = [
  { magic: Buffer.from('PK\x03\x04', 'latin1'), problem: zipProblem },
  { magic: Buffer.from('PK\x05\x06', 'latin1'), problem: () => 'this is an empty ZIP archive' },
  { magic: Buffer.from('d0cf11e0a1b11ae1', 'hex'), problem: oldExcelProblem },
  { magic: Buffer.from('%PDF-', 'latin1'), problem: () => 'this is a PDF: export the data as CSV UTF-8' },
  { magic: Buffer.from('1f8b', 'hex'), problem: () => 'this is gzipped twice: unzip it first' },
  { magic: Buffer.from('ustar\0', 'latin1'), at: 257, problem: unpackAdvice('a tar archive') },
  { magic: Buffer.from('ustar ', 'latin1'), at: 257, problem: unpackAdvice('a tar archive') },
  { magic: Buffer.from('28b52ffd', 'hex'), problem: unpackAdvice('Zstandard data') },
  { magic: Buffer.from('fd377a585a00', 'hex'), problem: unpackAdvice('xz data') },
  { magic: Buffer.from('314159265359', 'hex'), at: 4, problem: unpackAdvice('bzip2 data') },
  { magic: Buffer.from('377abcaf271c', 'hex'), problem: unpackAdvice('a 7-Zip archive') },
];

function zipProblem(head: Buffer): string {
  const text = head.toString('latin1');
  if (isOpenDocument(text)) return 'this is an OpenDocument spreadsheet: save it as .xlsx and use that file';
  return 'this is a ZIP archive: unpack it and use the file inside';
}

/** The encoding of UTF-16 without a byte order mark: every manifest begins with two ASCII characters (RFC 4627, section 3). */
function unmarkedUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = head;
  const isLittleEndian = first > 0 && second === 0 && third > 0 && fourth === 0;
  const isBigEndian = first === 0 && second > 0 && third === 0 && fourth > 0;
  if (head.length < 4 || !(isLittleEndian || isBigEndian)) return undefined;
  return isLittleEndian ? 'utf-16le' : 'utf-16be';
}
