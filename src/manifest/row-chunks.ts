import { maxRowsPerChunk } from './limits.ts';
import type { ManifestRow } from './row.ts';

/** A row as a format's reader gives it. */
export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/** Numbers the rows from 1 and hands them over in chunks of 1 to 500. */
export async function* numberRows(
  batches: AsyncIterable<readonly UnnumberedRow[]>,
): AsyncGenerator<readonly ManifestRow[], void, undefined> {
  let row = 0;
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; start += maxRowsPerChunk) {
      yield batch.slice(start, start + maxRowsPerChunk).map((each) => ({ row: ++row, ...each }));
    }
  }
}
