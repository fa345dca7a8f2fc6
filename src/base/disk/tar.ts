import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Unpacks for the owner only, and yields the path of each finished entry. An entry has a header of 512 bytes, and is padded to a multiple
 * of 512.
 */
export function* unpackTar(archive: Buffer, into: string): Generator<string> {
  for (let at = 0; archive[at] !== 0; ) {
    const field = (from: number, to: number): string =>
      archive.toString('latin1', at + from, at + to).replace(/\0.*/s, '');
    const path = join(into, field(0, 100));
    const bytes = Number.parseInt(field(124, 136), 8);
    if (field(156, 157) === '5') mkdirSync(path, { recursive: true, mode: 0o700 });
    else writeFileSync(path, archive.subarray(at + 512, at + 512 + bytes), { mode: 0o600 });
    yield path;
    at += 512 + 512 * Math.ceil(bytes / 512);
  }
}
