import { extname } from 'node:path';

/** Bytes. Systems allow 255, and the longest suffix beside a manifest is `.not-attempted.csv`. */
const longestName = 230;

/** A file name for one content: `week 47.3f2a1b9c.csv.gz` for `week 47.csv.gz`. Shortens long names. */
export function uniqueName(name: string, sha256: string): string {
  const suffix = extname(name);
  const suffixes = suffix === '.gz' ? extname(name.slice(0, -suffix.length)) + suffix : suffix;
  const end = `.${sha256.slice(0, 8)}${suffixes}`;
  const stem = Buffer.from(name.slice(0, name.length - suffixes.length));
  const most = Math.max(0, longestName - Buffer.byteLength(end));
  // Cut at a whole letter.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(stem.subarray(0, most), { stream: true }) + end;
}
