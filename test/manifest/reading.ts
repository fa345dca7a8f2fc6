import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { type OpenOptions, openManifest } from '../../src/manifest/open.ts';
import type { ManifestRow } from '../../src/manifest/row.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Writes a manifest of that name into a folder of its own; what ends with `.gz` is gzipped. */
export async function manifestFile(name: string, content: string | Buffer): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, name.endsWith('.gz') ? gzipSync(content) : content);
  return path;
}

/** Opens what was written under that name; messages call it by the name alone. */
export async function openText(
  name: string,
  content: string | Buffer,
  options: OpenOptions = {},
): Promise<Manifest> {
  return openManifest(await manifestFile(name, content), { name, ...options });
}

/** All rows; their cells as plain objects. */
export async function allRows(manifest: Pick<Manifest, 'rows'>): Promise<ManifestRow[]> {
  const rows: ManifestRow[] = [];
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) rows.push({ ...row, cells: { ...row.cells } });
  }
  return rows;
}

/** Bytes as a stream gives them, cut into chunks of that size. */
export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
