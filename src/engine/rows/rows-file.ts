import { readFileParts } from '../../base/disk/open-file.ts';
import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { SystemError, systemError } from '../../base/errors/system-error.ts';
import { size } from '../../base/text/format.ts';
import { type RowsHead, rowsHeadSchema, rowsInBlock, rowsVersion } from './head.ts';
import type { PlannedRow } from './row.ts';
import { type CallableLine, cutCallable, decodeRow } from './row-line.ts';

const portionBytes = 1 << 18;
const lineEnd = 0x0a;
const maxRows = 500;

export interface RowsFile {
  readonly path: string;
  readonly head: RowsHead;
  /**
   * Rows in parts of up to 500. Memory does not depend on their number.
   *
   * @param isWanted whether the row of a place is wanted; unwanted rows are not decoded
   * @throws a fatal error `ROWS_DAMAGED`
   */
  rows(
    from?: number,
    to?: number,
    isWanted?: (place: number) => boolean,
  ): AsyncGenerator<readonly PlannedRow[], void, undefined>;
  /** The callable rows up to `to` as lines for workers, in parts of up to 500. Memory does not depend on their number. */
  callableLines(to?: number, isWanted?: (place: number) => boolean): AsyncGenerator<readonly PlacedLine[]>;
  /** @param number the row's number in the user's manifest */
  find(number: number): Promise<PlannedRow | undefined>;
  /** Maps places to numbers in the user's manifest. Takes 8 bytes for each row, if they differ. */
  numbers(): Promise<(place: number) => number>;
}

export interface PlacedLine extends CallableLine {
  readonly place: number;
}

/** @throws a fatal error `ROWS_MISSING`, or `ROWS_DAMAGED` for an invalid file or one of another version */
export async function openRows(path: string): Promise<RowsFile> {
  const { head, start } = await readHead(path);

  /** Reads rows by their lines. Leaves out the rows of which `readLine` returns undefined. */
  async function* read<Read>(
    readLine: (line: string, place: number) => Read | undefined,
    from: number,
    to: number,
    isWanted: (place: number) => boolean = () => true,
  ): AsyncGenerator<readonly Read[]> {
    let place = from - ((from - 1) % rowsInBlock);
    const skipped = head.blocks.slice(0, (place - 1) / rowsInBlock).reduce((sum, bytes) => sum + bytes, 0);
    for await (const lines of linesIn(chunksOf(path, start + skipped))) {
      for (let first = 0; first < lines.length && place <= to; first += maxRows) {
        const part: Read[] = [];
        for (const line of lines.slice(first, first + maxRows)) {
          if (place > to) break;
          const found = place >= from && isWanted(place) ? readLine(line, place) : undefined;
          if (found !== undefined) part.push(found);
          place += 1;
        }
        if (part.length > 0) yield part;
      }
      if (place > to) return;
    }
    if (place <= to) throw damagedRows(path, `it ends after row ${place - 1} of ${head.counts.rows}`);
  }

  function rowIn(line: string, place: number): PlannedRow {
    const row = decodeRow(line, place, head.operations);
    if (row === undefined) throw damagedRows(path, `line ${place + 1} is not a row`);
    return row;
  }

  function callableLineIn(line: string, place: number): PlacedLine | undefined {
    const cut = cutCallable(line);
    if (cut !== undefined && cut.op < head.operations.length) return { place, ...cut };
    const row = rowIn(line, place);
    if (row.kind !== 'callable') return undefined;
    throw damagedRows(
      path,
      `the members of line ${place + 1} are in another order than this version writes them`,
    );
  }

  const rows: RowsFile['rows'] = (from = 1, to = head.counts.rows, isWanted) =>
    read(rowIn, from, to, isWanted);

  return {
    path,
    head,
    rows,
    callableLines: (to = head.counts.rows, isWanted) => read(callableLineIn, 1, to, isWanted),
    async find(number) {
      if (head.renumbered === undefined) {
        if (number > head.counts.rows) return undefined;
        for await (const [row] of rows(number, number)) return row;
      }
      for await (const part of rows()) {
        const row = part.find((each) => each.row === number);
        if (row !== undefined) return row;
      }
      return undefined;
    },
    async numbers() {
      if (head.renumbered === undefined) return (place) => place;
      const numbers = new Float64Array(head.counts.rows + 1);
      for await (const part of rows()) for (const { place, row } of part) numbers[place] = row;
      return (place) => numbers[place] ?? place;
    },
  };
}

async function readHead(path: string): Promise<{ readonly head: RowsHead; readonly start: number }> {
  for await (const [line = ''] of linesIn(chunksOf(path, 0))) {
    try {
      return { head: headIn(line), start: Buffer.byteLength(line) + 1 };
    } catch (error) {
      const { message } = error as RangeError;
      throw error instanceof OtherRowsVersion
        ? fatalError('ROWS_DAMAGED', `${path}: ${message}.`)
        : damagedRows(path, message);
    }
  }
  throw damagedRows(path, 'it has no first line');
}

/** The error for a file of rows that is not damaged, but comes from another version of this program. */
class OtherRowsVersion extends RangeError {}

/** @throws a RangeError, whose message is the end of a sentence */
export function headIn(line: string): RowsHead {
  let json: { readonly rows_version?: unknown } | null;
  try {
    json = JSON.parse(line);
  } catch {
    throw new RangeError('its first line is not JSON');
  }
  const version = json?.rows_version;
  if (version !== rowsVersion && typeof version === 'number')
    throw new OtherRowsVersion(
      `it has version ${version}, which this version of cqbatch does not read: use the version that wrote it`,
    );
  const { success, data, error } = rowsHeadSchema.safeParse(json, { jitless: true });
  if (success) return data;
  const [{ path: place = [], message } = { message: '' }] = error.issues;
  throw new RangeError(`its first line is not a head (${place.join('.')}: ${message})`);
}

/**
 * Complete lines without their ends, in parts.
 *
 * @param mostBytes the most bytes of a line
 * @throws a RangeError, with the end of a sentence, for a longer line
 */
export async function* linesIn(
  chunks: AsyncIterable<Buffer>,
  mostBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly string[], void, undefined> {
  const torn: Buffer[] = [];
  let tornBytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineEnd);
    tornBytes += end < 0 ? chunk.length : end;
    if (tornBytes > mostBytes) throw new RangeError(`has a line of more than ${size(mostBytes)}`);
    if (end < 0) {
      torn.push(chunk);
      continue;
    }
    tornBytes = chunk.length - end - 1;
    yield Buffer.concat([...torn.splice(0), chunk.subarray(0, end)])
      .toString('utf8')
      .split('\n');
    if (end + 1 < chunk.length) torn.push(chunk.subarray(end + 1));
  }
}

async function* chunksOf(path: string, start: number): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* readFileParts(path, { start, partBytes: portionBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SystemError('ROWS_MISSING', `${path} is missing`, 'restore it from a backup', error);
    throw systemError(error, path) ?? error;
  }
}

function damagedRows(path: string, what: string): CqbatchError {
  return fatalError('ROWS_DAMAGED', `${path}: ${what}. Restore it from a backup.`);
}
