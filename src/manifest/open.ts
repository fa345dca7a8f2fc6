import { usageError } from '../errors.ts';
import { formatOf, identify } from './layout.ts';
import { maxRecordBytes } from './limits.ts';
import type { Manifest } from './manifest.ts';
import { openReader } from './reader.ts';
import type { ManifestRow } from './row.ts';
import { numberRows } from './row-chunks.ts';
import { located, locatedAll } from './text/located.ts';
import { type ReadingLimits, readText } from './text/source.ts';

export interface OpenOptions {
  /** What to call the manifest in messages; default is its path. */
  readonly name?: string;
  /** CSV and TSV: a cell equal to this text means the empty string. Default `<clear>`. */
  readonly clearToken?: string;
  /** Largest record in bytes; default 16 MiB. */
  readonly maxRecordBytes?: number;
  /** Default is none. */
  readonly limits?: ReadingLimits;
}

/** The text that stands for the empty string in CSV and TSV, unless another is chosen. */
export const defaultClearToken = '<clear>';

/** Rows from which `columns()` of a JSON manifest is answered before all have been read. */
const rowsLookedAt = 100;

/**
 * Opens a manifest: finds out what it is written in (delimited text, JSON array, JSON Lines or an object with `rows`,
 * each perhaps gzipped) and checks its beginning.
 *
 * @param path a regular file, because it is read several times; see `stageManifest` for anything else.
 * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when it is no manifest or has no rows.
 */
export async function openManifest(path: string, options: OpenOptions = {}): Promise<Manifest> {
  const { source, layout } = await identify(path, options.name ?? path, options.limits);
  const reader = await located(source, () =>
    openReader(source, layout, {
      clearToken: options.clearToken ?? defaultClearToken,
      limit: options.maxRecordBytes ?? maxRecordBytes,
    }),
  );
  let bytes = 0;
  async function* text(): AsyncGenerator<Buffer, void, undefined> {
    bytes = 0;
    for await (const chunk of readText(source)) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const rows = () => locatedAll(source, numberRows(reader.rows(text())));
  const readable = await lookAtFirstRows(source.name, rows());
  return {
    name: source.name,
    format: formatOf(layout),
    gzip: source.gzip,
    ...(layout.kind === 'json-wrapper' && layout.facts),
    columns: () => reader.columns(),
    readable,
    bytes: () => bytes,
    rows,
  };
}

/**
 * Reads a fixed number of rows, so that what is concluded from their columns does not depend on how the file is read;
 * more when none of them could be read.
 *
 * @returns whether any could be read.
 */
async function lookAtFirstRows(
  name: string,
  chunks: AsyncIterable<readonly ManifestRow[]>,
): Promise<boolean> {
  let rows = 0;
  let readable = false;
  for await (const chunk of chunks) {
    rows += chunk.length;
    readable ||= chunk.some(({ problem }) => problem === undefined);
    if (rows >= rowsLookedAt && readable) return true;
  }
  if (rows === 0) throw usageError('MANIFEST_EMPTY', `${name}: the manifest has no rows; add at least one`);
  return readable;
}
