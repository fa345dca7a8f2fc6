import { once } from 'node:events';
import { createDeflateRaw, type DeflateRaw, deflateRawSync } from 'node:zlib';
import type { RowResult } from '../../domain.ts';
import { guardCell } from '../../manifest/formula-guard.ts';
import type { ReportLine } from '../join-results.ts';
import { type RefeedOptions, RefeedRows } from '../refeed.ts';
import { messageOf } from '../report-columns.ts';
import {
  type ByteWriter,
  type FactColumn,
  factColumns,
  NumberEncoder,
  type PageColumn,
  type PageContent,
  TextEncoderByRow,
} from './page-data.ts';

/** A column that grows row by row. */
interface GrowingColumn {
  readonly add: (line: ReportLine, cells: readonly string[]) => void;
  readonly pieces: readonly ByteWriter[];
  readonly describe: (parts: readonly string[]) => PageColumn;
}

/** The rows of a report by columns, compressed: memory grows with what they are compressed to. */
export class RowColumns {
  readonly #refeed: RefeedRows;
  readonly #columns: readonly GrowingColumn[];
  readonly #pieces: readonly CompressedPiece[];
  /** Rows that were added. */
  count = 0;

  /** @param resultColumns names of what operations tell of a row */
  constructor(refeed: Omit<RefeedOptions, 'guard'>, resultColumns: readonly string[]) {
    // As the page exports them, so that it can tell the empty text from a text that looks like the token for it.
    this.#refeed = new RefeedRows({ ...refeed, guard: guardCell });
    this.#columns = [
      ...factColumns.map(factColumn),
      ...resultColumns.map((name) =>
        textColumn('result', name, ({ result }) => result.columns?.[name] ?? ''),
      ),
      ...this.#refeed.header.map((name, index) => textColumn('cell', name, (_, cells) => cells[index] ?? '')),
    ];
    this.#pieces = this.#columns.flatMap(({ pieces }) => pieces.map((bytes) => new CompressedPiece(bytes)));
  }

  /** How many bytes it is so far, compressed. */
  get bytes(): number {
    return this.#pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const line of lines) {
      const { cells } = this.#refeed.cells(line.row, line.result.operation);
      for (const column of this.#columns) column.add(line, cells);
    }
    this.count += lines.length;
    for (const piece of this.#pieces) await piece.compress();
  }

  /** The columns, and the pieces that they name, in base64. There are no more rows then. */
  async end(): Promise<{
    readonly columns: readonly PageColumn[];
    readonly pieces: PageContent['pieces'];
  }> {
    const compressed = await Promise.all(this.#pieces.map((piece) => piece.end()));
    const pieces = Object.fromEntries(
      compressed.map((bytes, index) => [`p${index}`, bytes.toString('base64')]),
    );
    const ids = Object.keys(pieces);
    const columns = this.#columns.map(({ pieces: own, describe }) => describe(ids.splice(0, own.length)));
    return { columns, pieces };
  }

  discard(): void {
    for (const piece of this.#pieces) piece.discard();
  }
}

function factColumn(name: FactColumn): GrowingColumn {
  switch (name) {
    case 'operation':
    case 'outcome':
    case 'code':
      return choiceColumn(name, (result) => result[name]);
    case 'unclear':
      return choiceColumn(name, ({ unclear }) => (unclear ? 'unclear' : ''));
    case 'message':
      return textColumn('fact', name, ({ result }) => messageOf(result));
    case 'earlier':
      return textColumn('fact', name, ({ result: { earlier } }) =>
        earlier === undefined ? '' : JSON.stringify(earlier),
      );
    default:
      return numberColumn(name, numbers[name]);
  }
}

const numbers: Readonly<
  Record<
    Exclude<FactColumn, 'operation' | 'outcome' | 'code' | 'unclear' | 'message' | 'earlier'>,
    (result: RowResult) => number | undefined
  >
> = {
  row: ({ row }) => row,
  status: ({ httpStatus }) => httpStatus,
  attempts: ({ attempts }) => attempts,
  started: ({ startedAt }) => timeOf(startedAt),
  // After how much more than the duration of its last attempt it was finished: nothing, for most.
  late(result) {
    const [started, finished] = [timeOf(result.startedAt), timeOf(result.finishedAt)];
    if (started === undefined || finished === undefined) return undefined;
    return finished - started - rounded(result.durationMs ?? 0);
  },
  duration: ({ durationMs }) => (durationMs === undefined ? undefined : rounded(durationMs)),
  duplicateOf: ({ duplicateOf }) => duplicateOf,
};

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms));
}

function timeOf(iso: string | undefined): number | undefined {
  const time = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}

function numberColumn(name: string, numberOf: (result: RowResult) => number | undefined): GrowingColumn {
  const encoder = new NumberEncoder();
  return {
    add: ({ result }) => encoder.add(numberOf(result)),
    pieces: [encoder.bytes],
    describe: ([id = '']) => ({ kind: 'fact', name, type: 'number', parts: [id] }),
  };
}

function choiceColumn(name: string, textOf: (result: RowResult) => string): GrowingColumn {
  const encoder = new NumberEncoder();
  const choices = new Map<string, number>();
  return {
    add({ result }) {
      const text = textOf(result);
      const index = choices.get(text) ?? choices.size;
      choices.set(text, index);
      encoder.add(index);
    },
    pieces: [encoder.bytes],
    describe: ([id = '']) => ({
      kind: 'fact',
      name,
      type: 'choice',
      parts: [id],
      choices: [...choices.keys()],
    }),
  };
}

function textColumn(
  kind: PageColumn['kind'],
  name: string,
  textOf: (line: ReportLine, cells: readonly string[]) => string,
): GrowingColumn {
  const { codes, integers, text, encoder } = textPieces();
  return {
    add: (line, cells) => encoder.add(textOf(line, cells)),
    pieces: [codes, integers, text],
    describe: ([first = '', second = '', third = '']) => ({
      kind,
      name,
      type: 'text',
      parts: [first, second, third],
    }),
  };
}

function textPieces() {
  const encoder = new TextEncoderByRow();
  return { encoder, codes: encoder.codes, integers: encoder.integers.bytes, text: encoder.text };
}

/** So much is compressed at a time. */
const portion = 32_768;

/** Bytes that are compressed while they are written. */
class CompressedPiece {
  readonly #source: ByteWriter;
  readonly #chunks: Buffer[] = [];
  #deflate: DeflateRaw | undefined;
  bytes = 0;

  constructor(source: ByteWriter) {
    this.#source = source;
  }

  async compress(): Promise<void> {
    if (this.#source.length < portion) return;
    this.#deflate ??= createDeflateRaw().on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.bytes += chunk.length;
    });
    if (!this.#deflate.write(this.#source.take())) await once(this.#deflate, 'drain');
  }

  async end(): Promise<Buffer> {
    // Most reports are small, and a stream costs more than what it compresses.
    if (this.#deflate === undefined) return deflateRawSync(this.#source.take());
    this.#deflate.end(this.#source.take());
    await once(this.#deflate, 'end');
    return Buffer.concat(this.#chunks);
  }

  discard(): void {
    this.#deflate?.destroy();
  }
}
