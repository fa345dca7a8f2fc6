import { withScope } from '../../../base/async/scope.ts';
import { exists } from '../../../base/disk/files.ts';
import { openFile } from '../../../base/disk/open-file.ts';

const blockSize = 1 << 16;
const lineEnd = 0x0a;

/** @returns how a file differs from the expected file, as a sentence part */
export async function differenceOf(path: string, expectedPath: string): Promise<string | undefined> {
  const [isThere, isExpected] = [await exists(path), await exists(expectedPath)];
  if (!isThere || !isExpected)
    return isThere === isExpected ? undefined : isThere ? 'should not exist' : 'is missing';
  const line = await differentLine(path, expectedPath);
  return line === undefined ? undefined : `differs in line ${line}`;
}

function differentLine(path: string, otherPath: string): Promise<number | undefined> {
  return withScope(async (defer) => {
    const files = await Promise.all([path, otherPath].map((each) => openFile(each)));
    defer(async () => void (await Promise.all(files.map((file) => file.close()))));
    for (let at = 0, line = 1; ; at += blockSize) {
      const blocks = await Promise.all(
        files.map((file) => file.read(Buffer.alloc(blockSize), 0, blockSize, at)),
      );
      const [one, other] = blocks.map(({ buffer, bytesRead }) => buffer.subarray(0, bytesRead));
      if (one === undefined || other === undefined || (one.length === 0 && other.length === 0))
        return undefined;
      const isSame = one.equals(other);
      const end = isSame ? one.length : one.findIndex((byte, index) => byte !== other[index]);
      for (const byte of end < 0 ? one : one.subarray(0, end)) if (byte === lineEnd) line += 1;
      if (!isSame) return line;
    }
  });
}
