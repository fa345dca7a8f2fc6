import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { CqbatchError } from '../../src/errors.ts';
import type { Manifest, ManifestRow } from '../../src/manifest/manifest.ts';
import { type OpenOptions, openManifest } from '../../src/manifest/open.ts';
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

/** All items of batches. */
export async function flat<Item>(batches: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

/** The error that opening and reading ends with. */
export async function failure(
  name: string,
  content: string | Buffer,
  options: OpenOptions = {},
): Promise<CqbatchError> {
  const error = await openText(name, content, options)
    .then(allRows)
    .catch((reason: unknown) => reason);
  if (!(error instanceof CqbatchError)) throw new Error('did not fail as it should', { cause: error });
  expect(error.kind).toBe('usage');
  return error;
}
