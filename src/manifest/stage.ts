import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../system-error.ts';
import { type InputOptions, readInput } from './input.ts';
import { formatOf, identify } from './layout.ts';
import { readSize } from './limits.ts';
import type { ManifestFormat } from './manifest.ts';

/** A manifest's own copy: what was reviewed is what runs. */
export interface StagedManifest {
  /** The copy: `manifest.csv`, `.tsv`, `.json` or `.jsonl`, with `.gz` when it is gzipped. */
  readonly path: string;
  /** What to call it in messages: the path that was given, or `<stdin>`. */
  readonly name: string;
  /** SHA-256 of the bytes as they are in the file, in hexadecimal. */
  readonly sha256: string;
  /** Size of the file. */
  readonly bytes: number;
  readonly format: ManifestFormat;
  readonly gzip: boolean;
}

/**
 * Copies a manifest, byte for byte, into a folder. It is read once, from beginning to end, so it may be a pipe. The
 * copy is synced and can be read by its owner only.
 *
 * @param source a path, or `-` for standard input.
 * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when it cannot be read or is no manifest; nothing stays behind.
 */
export async function stageManifest(
  source: string,
  intoDir: string,
  options: InputOptions = {},
): Promise<StagedManifest> {
  const name = source === '-' ? '<stdin>' : source;
  const arriving = join(intoDir, 'manifest.arriving');
  try {
    const copied = await copy(readInput(source, name, options), arriving);
    const identified = await identify(arriving, name, options);
    const { gzip } = identified.source;
    const format = formatOf(identified.layout);
    const path = join(intoDir, `manifest.${format}${gzip ? '.gz' : ''}`);
    await rename(arriving, path);
    return { path, name, ...copied, format, gzip };
  } catch (error) {
    await rm(arriving, { force: true }).catch(() => {});
    throw error;
  }
}

/** SHA-256 of a file's bytes, in hexadecimal, and their number. */
export async function hashFile(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: readSize })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

async function copy(
  input: AsyncIterable<Buffer>,
  path: string,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await onDisk(path, () => open(path, 'w', 0o600));
  try {
    for await (const chunk of input) {
      hash.update(chunk);
      bytes += chunk.length;
      await onDisk(path, () => file.writeFile(chunk));
    }
    await onDisk(path, () => file.sync());
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}
