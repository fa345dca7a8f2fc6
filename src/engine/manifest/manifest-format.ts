import type { Delimiter } from '../../base/text/delimiter.ts';
import type { Manifest, ReadingOptions, UnnumberedRow } from './manifest.ts';
import type { ReadingContext, TextSource } from './text/source.ts';

/** How files of one kind are recognized and read: an entry of the table in `formats.ts`. */
export type ManifestFormat = BinaryFormat | TextFormat;

interface FormatFacts {
  readonly name: string;
  /** The title of the format, for people: `JSON Lines`. */
  readonly title: string;
  /** The extensions of file names. They decide what the content leaves open, and which files an inbox takes. */
  readonly extensions: readonly string[];
  /** Whether the first row names the columns of all rows. */
  readonly hasHeader: boolean;
  /** Options that have an effect on some formats only, each with what it changes in this one: `{ sheet: 'Excel workbooks' }`. */
  readonly options: Readonly<Partial<Record<keyof ReadingOptions, string>>>;
}

/** A format of files that are not text. */
interface BinaryFormat extends FormatFacts {
  readonly kind: 'binary';
  /** The noun of the format with its article: `a workbook`. */
  readonly noun: string;
  /** Whether a file that begins with these bytes, unzipped, has this format. */
  readonly magic: (head: Buffer) => boolean;
  readonly open: (source: TextSource, options: OpenOptions) => Promise<RowReader>;
}

interface TextFormat extends FormatFacts {
  readonly kind: 'text';
  /** Whether a text with this beginning has this format. Exactly one text format fits each text. */
  readonly magic: (beginning: TextBeginning) => boolean;
  readonly open: (beginning: TextBeginning, options: OpenOptions) => Promise<RowReader>;
}

export interface TextBeginning {
  /** The text below the lines that precede the rows. */
  readonly source: TextSource;
  /** The first 64 KiB below the preamble, not only white space. */
  readonly text: string;
  readonly isComplete: boolean;
  readonly preamble: Preamble;
  /** The name of the format with the extension of the file. */
  readonly hint: string | undefined;
  readonly rowsAt: ReadingOptions['rowsAt'];
}

/** The lines above the column names. */
export interface Preamble {
  /** The length of the lines in characters. */
  readonly length: number;
  readonly lines: number;
  /** The delimiter that a first line `sep=;` names, which spreadsheets write and read. */
  readonly delimiter?: Delimiter | undefined;
}

export interface OpenOptions extends ReadingOptions {
  /** The name of the manifest, for messages. Default: the path. */
  readonly name?: string;
  /** Columns of a report to read, such as `_code`. Only in formats with a header. */
  readonly keptColumns?: readonly string[];
  /** The limits of reading, and the known operations. Default: no operations. */
  readonly context?: ReadingContext;
}

export interface RowReader {
  columns(): readonly string[];
  /** What the format says of the manifest besides its rows. */
  readonly facts?: Partial<
    Pick<Manifest, 'format' | 'delimiter' | 'operation' | 'defaults' | 'page' | 'sheet' | 'lettersOf'>
  >;
  /** Gives the rows of a manifest, in batches of any size. A format that is read whole ignores the text of the file. */
  rows(text: AsyncIterable<Buffer>): AsyncIterable<readonly UnnumberedRow[]>;
}
