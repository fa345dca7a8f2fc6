// @ts-check
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Identifiers beyond 2^53, as a service may have them. */
const firstId = 9_007_199_254_740_993n;
const rowsAtOnce = 1_000;

/** Writes a CSV manifest of restores: no two rows are alike, and one column is the user's own. */
export async function writeManifest(/** @type {string} */ path, /** @type {number} */ rows) {
  await pipeline(Readable.from(parts(rows)), createWriteStream(path));
}

function* parts(/** @type {number} */ rows) {
  yield 'evaluation_id,user_id,ticket\n';
  for (let from = 0; from < rows; from += rowsAtOnce) {
    let part = '';
    for (let row = from; row < Math.min(from + rowsAtOnce, rows); row++) {
      part += `${firstId + BigInt(row)},supervisor-${row % 40},OPS-${100_000 + row}\n`;
    }
    yield part;
  }
}
