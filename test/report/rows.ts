import type { ManifestRow } from '../../src/manifest/row.ts';

/** Rows as a manifest hands them out. */
export async function* inChunks(
  rows: readonly ManifestRow[],
  size: number,
): AsyncGenerator<readonly ManifestRow[]> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}
