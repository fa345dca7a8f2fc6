import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSmallFile } from '../../src/disk/files.ts';
import { describeOnPosix } from '../helpers/describe-with-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

async function fileOf(bytes: number): Promise<string> {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, 'x'.repeat(bytes));
  return path;
}

test('a small file is read whole, and a larger one is refused', async () => {
  expect(await readSmallFile(await fileOf(0))).toBe('');
  expect(await readSmallFile(await fileOf(1_000_000))).toHaveLength(1_000_000);
  await expect(readSmallFile(await fileOf(1_000_001))).rejects.toThrow('it is larger than 1 MB');
  await expect(readSmallFile(await temporaryFolder())).rejects.toThrow('EISDIR');
  await expect(readSmallFile('/none')).rejects.toThrow('ENOENT');
});

describeOnPosix('a path that is not a file', () => {
  test('is refused at once, a device or a pipe', async () => {
    const pipe = join(await temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(readSmallFile('/dev/zero')).rejects.toThrow('it is a device, not a file');
    await expect(readSmallFile(pipe)).rejects.toThrow('it is a pipe, not a file');
  });
});
