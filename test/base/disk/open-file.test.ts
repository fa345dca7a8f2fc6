import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, createWriteStream } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hashFile } from '../../../src/base/disk/hash-file.ts';
import { readJsonFile } from '../../../src/base/disk/json-file.ts';
import { openFile, readFileParts, readSmallFile } from '../../../src/base/disk/open-file.ts';
import { systemError } from '../../../src/base/errors/system-error.ts';
import { describeOnPosix } from '../../helpers/describe-with-program.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

async function fileOf(bytes: number): Promise<string> {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, 'x'.repeat(bytes));
  return path;
}

async function firstPart(path: string): Promise<string> {
  for await (const part of readFileParts(path)) return part.toString();
  return '';
}

test('a small file is read whole, and a larger one is refused', async () => {
  expect(await readSmallFile(await fileOf(0))).toBe('');
  expect(await readSmallFile(await fileOf(1_000_000))).toHaveLength(1_000_000);
  await expect(readSmallFile(await fileOf(1_000_001))).rejects.toThrow('it is larger than 1 MB');
  await expect(readSmallFile('/none')).rejects.toThrow('ENOENT');
});

test('a sparse file is refused for its size before any of it is read', async () => {
  const path = await fileOf(0);
  await truncate(path, 12e12);
  for (const reading of [hashFile(path, { mostBytes: 1e9 }), openFile(path, { mostBytes: 1e9 })])
    await expect(reading).rejects.toThrow('it is larger than 1 GB');
});

test('a file that grows while it is read is refused when it is too large', async () => {
  const path = await fileOf(100_000);
  const parts = readFileParts(path, { partBytes: 10_000, mostBytes: 150_000 });
  await parts.next();
  const more = createWriteStream(path, { flags: 'a' });
  more.end('x'.repeat(100_000));
  await once(more, 'close');
  const rest = async (): Promise<void> => {
    for await (const _ of parts);
  };
  await expect(rest()).rejects.toThrow('it is larger than 150 kB');
});

describeOnPosix('what is not a file', () => {
  async function others(): Promise<readonly (readonly [path: string, kind: string])[]> {
    const folder = await temporaryFolder();
    const [pipe, socket] = [join(folder, 'pipe'), join(folder, 'socket')];
    execFileSync('mkfifo', [pipe]);
    const server = createServer().listen(socket);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return [
      [pipe, 'pipe'],
      [socket, 'socket'],
      [folder, 'folder'],
      ['/dev/zero', 'device'],
    ];
  }

  test('is refused at once, by each way to read a file', async () => {
    for (const [path, kind] of await others()) {
      for (const read of [openFile, hashFile, readSmallFile, firstPart])
        await expect(read(path)).rejects.toThrow(`it is a ${kind}, not a file`);
      const damaged = (): Error => new Error('damaged');
      await expect(readJsonFile(path, { parse: () => 1 } as never, damaged)).rejects.toMatchObject({
        code: 'PATH_UNUSABLE',
        message: `${path} is a ${kind} where a file should be: move it away, then try again.`,
      });
    }
  });

  test('is refused, too, when it should be written', async () => {
    const [[pipe = ''] = []] = await others();
    const failing = openFile(pipe, { flags: constants.O_RDWR | constants.O_CREAT });
    await expect(failing).rejects.toThrow('it is a pipe, not a file');
    const error = await failing.catch((cause) => systemError(cause, 'journal.jsonl'));
    expect(error).toMatchObject({ code: 'PATH_UNUSABLE' });
  });
});
