import { usageError } from '../../base/errors/errors.ts';
import type { Delimiter } from '../../base/text/delimiter.ts';
import { encodingByMark } from '../../base/text/marked-text.ts';
import { fieldNameOf, requiredNames } from '../operation/field-names.ts';
import type { Operation } from '../operation/operation.ts';
import { cutLines, detectDelimiter, readPreamble, titleLines } from './csv/header.ts';
import { readWhole } from './json/document.ts';
import { readWrapper, type WrapperFacts } from './json/wrapper.ts';
import type { ManifestFormat, ReadingOptions } from './manifest.ts';
import { isGzip, isWorkbook, refuseForeignFile } from './text/file-kind.ts';
import { syntaxMistake, TextMistake } from './text/mistake.ts';
import {
  type ByteSource,
  inputKind,
  located,
  type ReadingContext,
  readBytes,
  readText,
  type TextSource,
} from './text/source.ts';

export type Layout =
  | { readonly format: 'csv' | 'tsv'; readonly delimiter: Delimiter }
  | { readonly format: 'json'; readonly outer: 'array' }
  | {
      readonly format: 'json';
      readonly outer: 'object';
      readonly facts: WrapperFacts;
      /** The place of the rows is known only at the end of the text. */
      readonly bytes: Buffer;
      readonly path?: readonly string[] | undefined;
    }
  | { readonly format: 'jsonl' }
  | { readonly format: 'xlsx' };

const headSize = 64 * 1024;

/**
 * Identifies a manifest by its content; the extension of the file name decides only ambiguous cases.
 *
 * @param name for messages; its extension counts if that of `path` is unknown
 * @throws CqbatchError (`usage`) for files that are not manifests, such as empty ones, and for options that do not fit the format
 */
export async function identify(
  path: string,
  name: string,
  context: ReadingContext = {},
  reading: ReadingOptions = {},
): Promise<Identified> {
  if ((await inputKind(path, name, context)) === 'pipe') {
    throw usageError(
      'MANIFEST_NOT_A_FILE',
      `${name}: a pipe can be read only once; pass it as standard input (-)`,
    );
  }
  const start = await readHead({ path, name, gzip: false }, 2);
  const unplaced = { path, name, gzip: isGzip(start.bytes), context, bomLength: 0, start: 0, firstLine: 1 };
  return located(unplaced, async () => {
    const bytes = await readHead(unplaced, headSize);
    if (isWorkbook(bytes.bytes)) {
      refuseOption(reading.rowsAt !== undefined, '--rows-at', nestedJson);
      const encodedAs = reading.encoding === undefined ? undefined : 'a workbook has its own';
      return { source: unplaced, layout: { format: 'xlsx' }, encodedAs };
    }
    refuseOption(reading.sheet !== undefined, '--sheet', 'Excel workbooks');
    refuseOption(reading.hidden !== undefined, '--hidden', 'Excel workbooks');
    const marked = encodingByMark(bytes.bytes);
    const encoding = marked ?? reading.encoding ?? 'utf-8';
    refuseForeignFile(bytes.bytes, encoding);
    const bomLength = marked === 'utf-8' ? 3 : 0;
    const source = { ...unplaced, bomLength, start: bomLength };
    const isOther = reading.encoding !== undefined && encoding !== reading.encoding;
    const encodedAs = isOther ? `the file begins with the mark of ${encoding}` : undefined;
    const recoded = { ...source, encoding: encoding === 'utf-8' ? undefined : encoding };
    return located(recoded, async () => {
      const head = encoding === 'utf-8' ? bytes : await readHead(recoded, headSize);
      return { ...(await findLayout(recoded, head, reading)), encodedAs };
    });
  });
}

interface Identified {
  readonly source: TextSource;
  readonly layout: Layout;
  /** See `Manifest.encodedAs`. */
  readonly encodedAs?: string | undefined;
}

interface Head {
  readonly bytes: Buffer;
  readonly complete: boolean;
}

async function readHead(source: ByteSource, size: number): Promise<Head> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readBytes(source)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > size) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, size), complete: length <= size };
}

async function findLayout(source: TextSource, head: Head, reading: ReadingOptions): Promise<Identified> {
  const { skipLines = 0 } = reading;
  const beginning = head.bytes.toString('utf8', source.bomLength);
  const preamble = readPreamble(beginning, skipLines, head.complete);
  const text = beginning.slice(preamble.length);
  const first = /\S/.exec(text)?.[0];
  if (first === undefined) {
    const what = head.complete ? 'the file is empty' : 'the file begins with 64 KiB of white space';
    throw new TextMistake('MANIFEST_EMPTY', undefined, `${what}; it must have a header line and rows`);
  }
  const hint = extensionOf(source);
  const mayBeHeader = (hint === 'csv' || hint === 'tsv') && !jsonBeginning.test(text);
  const isJson = (first === '[' || first === '{') && !mayBeHeader;
  if (preamble.length === 0 && (isJson || hint === 'json' || hint === 'jsonl')) {
    return { source, layout: await jsonLayout(source, text, hint, reading) };
  }
  refuseOption(reading.rowsAt !== undefined, '--rows-at', nestedJson);
  refuseOption(isJson, '--skip-lines', 'CSV, TSV and Excel workbooks');
  const titles = titleLines(cutLines(text), identifierTest(source.context?.operations));
  if (titles > 0) throw headerBelow(`on line ${preamble.lines + titles + 1}`, skipLines + titles);
  const delimiter = preamble.delimiter ?? detectDelimiter(text, head.complete, hint === 'tsv' ? '\t' : ',');
  const start = source.start + Buffer.byteLength(beginning.slice(0, preamble.length));
  return {
    source: { ...source, start, firstLine: 1 + preamble.lines },
    layout: { format: delimiter === '\t' ? 'tsv' : 'csv', delimiter },
  };
}

async function jsonLayout(
  source: TextSource,
  text: string,
  hint: ManifestFormat | undefined,
  { rowsAt }: ReadingOptions,
): Promise<Layout> {
  const path = rowsAt?.split('.');
  const isObject = /^\s*\{/.test(text);
  const [, firstLine = '', next] = /^\s*([^\r\n]*)[\r\n]\s*(\S?)/.exec(text) ?? [];
  // Each line of JSON Lines is a whole value, even if it is broken inside.
  const mayBeLines = !isLeftOpen(firstLine) && (hint === 'jsonl' || next === '{');
  if (isObject && (path !== undefined || !mayBeLines)) {
    const bytes = await readWhole(readText(source));
    const facts = readWrapper(bytes, { offset: source.start, path });
    return facts === undefined
      ? { format: 'jsonl' }
      : { format: 'json', outer: 'object', facts, bytes, path };
  }
  refuseOption(path !== undefined, '--rows-at', nestedJson);
  if (/^\s*\[/.test(text)) return { format: 'json', outer: 'array' };
  if (isObject || hint === 'jsonl') return { format: 'jsonl' };
  const offset = source.start + Buffer.byteLength(text.slice(0, text.search(/\S/)));
  throw syntaxMistake(offset, 'a JSON manifest must begin with [ or {');
}

function isLeftOpen(line: string): boolean {
  const outsideStrings = line.replace(/"(?:[^"\\]|\\.)*"/g, '');
  const opened = outsideStrings.match(/[[{]/g)?.length ?? 0;
  return opened > (outsideStrings.match(/[\]}]/g)?.length ?? 0);
}

const nestedJson = 'a JSON object that has its rows in a member';

/** For names of fields that an operation requires. */
export function identifierTest(operations: readonly Operation[] = []): (cell: string) => boolean {
  const names = new Set(operations.flatMap(requiredNames));
  return (cell) => names.has(fieldNameOf(cell));
}

/** @param where `on line 3`, `in row 3` */
export function headerBelow(where: string, skipLines: number): TextMistake {
  return new TextMistake(
    'MANIFEST_NO_HEADER',
    undefined,
    `the column names seem to be ${where}, below a title; pass --skip-lines ${skipLines}`,
  );
}

function refuseOption(isGiven: boolean, option: string, what: string): void {
  if (!isGiven) return;
  throw new TextMistake(
    'MANIFEST_OPTION_UNSUITABLE',
    undefined,
    `${option} only works with ${what}; leave it out`,
  );
}

function extensionOf({ path, name }: TextSource): ManifestFormat | undefined {
  for (const file of [path, name]) {
    const extension = /\.([a-z]+)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase() ?? '';
    const format = formatByExtension.get(extension);
    if (format !== undefined) return format;
  }
  return undefined;
}

const formatByExtension = new Map<string, ManifestFormat>([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
]);

const jsonBeginning = /^\s*(?:\[\s*[[{"\]\d-]|\{\s*["}])/;
