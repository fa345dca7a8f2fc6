// @ts-check
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const rowsAtOnce = 1_000;

/**
 * Writes a CSV manifest of restores: no two rows are alike, and one column is the user's own. By default, the identifiers are
 * beyond 2^53, as a service may have them.
 *
 * @param {string} folder
 * @param {number} rows
 * @param {bigint} [firstId]
 * @returns {Promise<string>} its path
 */
export async function writeManifest(folder, rows, firstId = 9_007_199_254_740_993n) {
  const path = join(folder, `${rows}-rows.csv`);
  await pipeline(Readable.from(parts(rows, firstId)), createWriteStream(path));
  return path;
}

function* parts(/** @type {number} */ rows, /** @type {bigint} */ firstId) {
  yield 'evaluation_id,user_id,ticket\n';
  for (let from = 0; from < rows; from += rowsAtOnce) {
    let part = '';
    for (let row = from; row < Math.min(from + rowsAtOnce, rows); row++) {
      part += `${firstId + BigInt(row)},supervisor-${row % 40},OPS-${100_000 + row}\n`;
    }
    yield part;
  }
}
