import { usageError } from '../../base/errors/errors.ts';
import { inWords } from '../../base/text/format.ts';
import { encodingByMark } from '../../base/text/marked-text.ts';
import { readPreamble } from './csv/beginning.ts';
import { formatByName, formats } from './formats.ts';
import { beginsLikeJson } from './json/beginning.ts';
import type { ReadingOptions } from './manifest.ts';
import type { ManifestFormat, OpenOptions, RowReader, TextBeginning } from './manifest-format.ts';
import { isGzip, refuseForeignFile } from './text/file-kind.ts';
import { optionUnsuitable, TextMistake } from './text/mistake.ts';
import {
  type ByteSource,
  inputKind,
  located,
  type ReadingContext,
  readBytes,
  type TextSource,
} from './text/source.ts';

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
): Promise<IdentifiedManifest> {
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
    const binary = formats.find((each) => each.kind === 'binary' && each.magic(bytes.bytes));
    if (binary?.kind === 'binary') {
      requireSuitable(binary, reading);
      return {
        source: unplaced,
        format: binary,
        whyEncodingUnused: reading.encoding === undefined ? undefined : `${binary.noun} has its own`,
        open: (options) => binary.open(unplaced, options),
      };
    }
    const marked = encodingByMark(bytes.bytes);
    const encoding = marked ?? reading.encoding ?? 'utf-8';
    refuseForeignFile(bytes.bytes, encoding);
    const bomLength = marked === 'utf-8' ? 3 : 0;
    const source = { ...unplaced, bomLength, start: bomLength };
    const isOther = reading.encoding !== undefined && encoding !== reading.encoding;
    const whyEncodingUnused = isOther ? `the file begins with the mark of ${encoding}` : undefined;
    const recoded = { ...source, encoding: encoding === 'utf-8' ? undefined : encoding };
    return located(recoded, async () => {
      const head = encoding === 'utf-8' ? bytes : await readHead(recoded, headSize);
      return { ...identifyText(recoded, head, reading), whyEncodingUnused };
    });
  });
}

interface IdentifiedManifest {
  readonly source: TextSource;
  readonly format: ManifestFormat;
  /** Why the user's encoding has no effect, as `Manifest.whyEncodingUnused` has it. */
  readonly whyEncodingUnused?: string | undefined;
  /** Opens the manifest. @throws CqbatchError (`usage`) or TextMistake when it has no valid beginning */
  readonly open: (options: OpenOptions) => Promise<RowReader>;
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

function identifyText(source: TextSource, head: Head, reading: ReadingOptions): IdentifiedManifest {
  const { skipLines = 0, rowsAt } = reading;
  const all = head.bytes.toString('utf8', source.bomLength);
  const preamble = readPreamble(all, skipLines, head.complete);
  const text = all.slice(preamble.length);
  if (!/\S/.test(text)) {
    const what = head.complete ? 'the file is empty' : 'the file begins with 64 KiB of white space';
    throw new TextMistake('MANIFEST_EMPTY', undefined, `${what}; it must have a header line and rows`);
  }
  const start = source.start + Buffer.byteLength(all.slice(0, preamble.length));
  const beginning: TextBeginning = {
    source: { ...source, start, firstLine: 1 + preamble.lines },
    text,
    isComplete: head.complete,
    preamble,
    hint: (formatByName(source.path) ?? formatByName(source.name))?.name,
    rowsAt,
  };
  const format = formats.find((each) => each.kind === 'text' && each.magic(beginning));
  if (format?.kind !== 'text') throw new Error('no text format fits');
  requireSuitable(format, reading);
  if (preamble.length > 0 && beginsLikeJson(beginning)) throw unsuitable('skipLines');
  return { source: beginning.source, format, open: (options) => format.open(beginning, options) };
}

/** Checks the reading options. @throws TextMistake for an option that has an effect on other formats only */
function requireSuitable({ options }: ManifestFormat, reading: ReadingOptions): void {
  const special = new Set(formats.flatMap((each) => Object.keys(each.options) as (keyof ReadingOptions)[]));
  for (const option of special) {
    if (reading[option] && options[option] === undefined) throw unsuitable(option);
  }
}

function unsuitable(option: keyof ReadingOptions): TextMistake {
  const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const fitting = formats.flatMap(({ options }) => options[option] ?? []);
  return optionUnsuitable(flag, inWords(fitting, 'and'));
}
