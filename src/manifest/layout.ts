import { usageError } from '../errors.ts';
import { type Delimiter, detectDelimiter } from './csv/delimiter.ts';
import { inputKind } from './input.ts';
import { readWrapper, type WrapperFacts } from './json/wrapper.ts';
import type { ManifestFormat } from './manifest.ts';
import { isGzip, recogniseForeignFile } from './text/file-kind.ts';
import { syntaxMistake, TextMistake } from './text/position.ts';
import {
  type ByteSource,
  located,
  type ReadingLimits,
  readBytes,
  readText,
  type TextSource,
} from './text/source.ts';

/** How the rows stand in the text. */
export type Layout =
  | { readonly format: 'csv' | 'tsv'; readonly delimiter: Delimiter }
  | { readonly format: 'json'; readonly outer: 'array' }
  | { readonly format: 'json'; readonly outer: 'object'; readonly facts: WrapperFacts }
  | { readonly format: 'jsonl' };

/** Default limit of one record, in bytes: CSV record, JSON array element or line of JSON Lines. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** Bytes at the beginning of the text from which its layout is told. */
const headSize = 64 * 1024;

/**
 * Finds out what a manifest is by its content; the file name's extension only decides what the content leaves open.
 *
 * @param name what to call the file in messages; its extension counts when `path` has none that is known.
 * @throws CqbatchError (`usage`) for files that are no manifest, such as workbooks, UTF-16 text and empty files.
 */
export async function identify(
  path: string,
  name: string,
  limits: ReadingLimits = {},
): Promise<{ readonly source: TextSource; readonly layout: Layout }> {
  if ((await inputKind(path, name, limits)) === 'pipe') {
    throw usageError(
      'MANIFEST_NOT_A_FILE',
      `${name}: a pipe can be read only once; pass it as standard input (-)`,
    );
  }
  const start = await readHead({ path, name, gzip: false }, 2);
  const unplaced = { path, name, gzip: isGzip(start.bytes), limits };
  const head = await readHead(unplaced, headSize);
  const hasBom = head.bytes.subarray(0, 3).equals(byteOrderMark);
  const source: TextSource = { ...unplaced, bomLength: hasBom ? 3 : 0 };
  const layout = await located(source, () => findLayout(source, head));
  return { source, layout };
}

interface Head {
  readonly bytes: Buffer;
  /** Whether the text ends here. */
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

async function findLayout(source: TextSource, head: Head): Promise<Layout> {
  const foreign = recogniseForeignFile(head.bytes);
  if (foreign !== undefined) throw new TextMistake(foreign.code, undefined, foreign.problem);
  const text = head.bytes.toString('utf8', source.bomLength);
  const first = /\S/.exec(text)?.[0];
  if (first === undefined) {
    const what = head.complete ? 'the file is empty' : 'the file begins with 64 KiB of white space';
    throw new TextMistake('MANIFEST_EMPTY', undefined, `${what}; it must hold a header line and rows`);
  }
  const hint = extensionOf(source);
  const mayBeHeader = (hint === 'csv' || hint === 'tsv') && !jsonBeginning.test(text);
  if (first === '[' && !mayBeHeader) return { format: 'json', outer: 'array' };
  if (first === '{' && !mayBeHeader) {
    if (hint === 'jsonl' || /^\s*\{.*[\r\n]\s*\{/.test(text)) return { format: 'jsonl' };
    const facts = await readWrapper(readText(source), { offset: source.bomLength, limit: maxRecordBytes });
    return facts === undefined ? { format: 'jsonl' } : { format: 'json', outer: 'object', facts };
  }
  if (hint === 'jsonl') return { format: 'jsonl' };
  if (hint === 'json') {
    const offset = source.bomLength + Buffer.byteLength(text.slice(0, text.search(/\S/)));
    throw syntaxMistake(offset, 'a JSON manifest must begin with [ or {');
  }
  const delimiter = detectDelimiter(text, head.complete, hint === 'tsv' ? '\t' : ',');
  return { format: delimiter === '\t' ? 'tsv' : 'csv', delimiter };
}

/** The format that the file's name claims. */
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

/** Two characters that no header of delimited text begins with. */
const jsonBeginning = /^\s*(?:\[\s*[[{"\]\d-]|\{\s*["}])/;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
