import { identify } from './identify.ts';
import { pathsToRows } from './json/page.ts';
import type { Manifest, ManifestRow, UnnumberedRow } from './manifest.ts';
import type { OpenOptions } from './manifest-format.ts';
import { locate, located, readText, type TextSource } from './text/source.ts';

const maxRowsPerChunk = 500;

/** How many rows are read for `columns()` of a manifest without a header. */
const rowsLookedAt = 100;

/**
 * Opens a manifest: identifies the format by content, and checks the beginning.
 *
 * @param path a regular file, because it is read several times; see `stageManifest` for other sources
 * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when it is not a manifest
 */
export async function openManifest(path: string, options: OpenOptions = {}): Promise<Manifest> {
  const { source, format, whyEncodingUnused, open } = await identify(
    path,
    options.name ?? path,
    options.context,
    options,
  );
  const reader = await located(source, () => open(options));
  const rows = () => numberRows(source, reader.rows(readText(source)));
  const { readable, sample } = await lookAtFirstRows(rows());
  return {
    name: source.name,
    format: format.name,
    hasHeader: format.hasHeader,
    whyEncodingUnused,
    encoding: source.encoding,
    columns: () => reader.columns(),
    readable,
    sample,
    ...nestedRowsOf(sample),
    ...reader.facts,
    rows,
  };
}

/** Reads the first rows. Their number is fixed, so that conclusions do not depend on chunks. Continues while no row is readable. */
async function lookAtFirstRows(
  chunks: AsyncIterable<readonly ManifestRow[]>,
): Promise<Pick<Manifest, 'readable' | 'sample'>> {
  let rows = 0;
  const sample: ManifestRow['cells'][] = [];
  for await (const chunk of chunks) {
    rows += chunk.length;
    for (const { cells, problem } of chunk)
      if (problem === undefined && sample.length < rowsLookedAt) sample.push(cells);
    if (rows >= rowsLookedAt && sample.length > 0) break;
  }
  return { readable: sample.length > 0, sample };
}

/** The paths to rows inside the rows, as pages of an API's answer have them: `{"data":[{…},{…}]}` on one line. */
function nestedRowsOf(sample: Manifest['sample']): Pick<Manifest, 'nestedRows'> {
  const [path, ...others] = new Set(sample.map((cells) => pathsToRows(cells).join()));
  if (path === undefined || path === '' || path.includes(',') || others.length > 0) return {};
  return { nestedRows: { path, isRepeated: sample.length > 1 } };
}

/** Gives each row its number, from 1. */
async function* numberRows(
  source: TextSource,
  batches: AsyncIterable<readonly UnnumberedRow[]>,
): AsyncGenerator<readonly ManifestRow[], void, undefined> {
  let row = 0;
  try {
    for await (const batch of batches) {
      for (let start = 0; start < batch.length; start += maxRowsPerChunk) {
        yield batch.slice(start, start + maxRowsPerChunk).map((each) => ({ row: ++row, ...each }));
      }
    }
  } catch (error) {
    throw await locate(source, error);
  }
}
