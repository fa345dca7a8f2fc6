import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

const partBytes = 256 * 1024;

/**
 * Reuses one buffer, because a stream would allocate one for each part.
 *
 * @param flags of open(2)
 */
export async function hashFile(path: string, flags = 0): Promise<Digest> {
  const file = await open(path, constants.O_RDONLY | flags);
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(partBytes);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
