import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { CqbatchError } from '../../../src/base/errors/errors.ts';
import type { Manifest, ManifestRow } from '../../../src/engine/manifest/manifest.ts';
import type { OpenOptions } from '../../../src/engine/manifest/manifest-format.ts';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** Writes a manifest of that name into its own folder; gzipped if the name ends with `.gz`. */
export async function manifestFile(name: string, content: string | Buffer): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, name.endsWith('.gz') ? gzipSync(content) : content);
  return path;
}

/** Opens a manifest written under that name; messages name it without its folder. */
export async function openText(
  name: string,
  content: string | Buffer,
  options: OpenOptions = {},
): Promise<Manifest> {
  return openManifest(await manifestFile(name, content), { name, ...options });
}

/** All rows, with their cells as plain objects. */
export async function allRows(manifest: Pick<Manifest, 'rows'>): Promise<ManifestRow[]> {
  const rows: ManifestRow[] = [];
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) rows.push({ ...row, cells: { ...row.cells } });
  }
  return rows;
}

/** The cells of all rows of a manifest that is written and opened under that name. */
export async function cellsOf(...manifest: Parameters<typeof openText>): Promise<ManifestRow['cells'][]> {
  return (await allRows(await openText(...manifest))).map(({ cells }) => cells);
}

/** Bytes as a stream delivers them, in chunks of that size. */
export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** All items of batches. */
export async function flat<Item>(batches: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

/** The error of opening and reading. */
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
