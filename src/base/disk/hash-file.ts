import { createHash } from 'node:crypto';
import { type OpenFileOptions, openFile } from './open-file.ts';

export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

const partBytes = 256 * 1024;

/**
 * Reuses one buffer, because a stream would allocate one for each part.
 *
 * @throws what `openFile` throws
 */
export async function hashFile(path: string, options?: OpenFileOptions): Promise<Digest> {
  const file = await openFile(path, options);
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
