import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, open, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { readInput, stageManifest } from '../../../src/engine/manifest/stage.ts';
import { inputKind } from '../../../src/engine/manifest/text/source.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allRows, failure, manifestFile } from './reading.ts';

const csv = `id,note\n${'1,x\n'.repeat(2_000)}`;

async function pipe(): Promise<string> {
  const path = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

test('devices, sockets and directories are distinguished, with the remedy', async () => {
  const folder = await temporaryFolder();
  const socket = join(folder, 'socket');
  const server = createServer().listen(socket);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  await symlink('/dev/zero', join(folder, 'zeros.csv'));
  await mkdir(join(folder, 'sub'));
  const asInput = 'not a file; to read from it, pass it as standard input (-)';
  const sub = join(folder, 'sub');
  for (const [path, problem] of [
    [join(folder, 'zeros.csv'), `this is a device, ${asInput}`],
    [socket, `this is a socket, ${asInput}`],
    [sub, `this is a folder; pass a file, or run each manifest in it: cqbatch watch ${sub}`],
  ] as const) {
    const error = { kind: 'usage', code: 'MANIFEST_NOT_A_FILE', message: `${path}: ${problem}` };
    await expect(openManifest(path)).rejects.toMatchObject(error);
    await expect(stageManifest(path, folder)).rejects.toMatchObject(error);
  }
  expect(await readdir(folder)).toEqual(['socket', 'sub', 'zeros.csv']);
});

test('a pipe in place of a file whose digest is known is refused at once', async () => {
  const path = await pipe();
  const folder = await temporaryFolder();
  const message = 'inbox/a.csv: this is a pipe, not a file';
  const staged = stageManifest(path, folder, { sha256: '0'.repeat(64) }, {}, 'inbox/a.csv');
  await expect(staged).rejects.toMatchObject({ code: 'MANIFEST_NOT_A_FILE', message });
  expect(await readdir(folder)).toEqual([]);
});

test('a pipe is read to its end, and waiting for it is reported', async () => {
  const path = await pipe();
  expect(await inputKind(path, 'rows')).toBe('pipe');
  let text: Promise<string> | undefined;
  const waiting = new Promise<string>((resolve) => {
    text = textOf(readInput(path, 'rows', { onWaiting: resolve }));
  });
  expect(await waiting).toBe('rows');
  const writer = await open(path, 'w');
  await writer.write('a,b\n');
  await writer.write('1,2\n'.repeat(100_000));
  await writer.close();
  expect(await text).toBe(`a,b\n${'1,2\n'.repeat(100_000)}`);
});

test('waiting for a pipe can be stopped, and nothing stays behind', async () => {
  const folder = await temporaryFolder();
  const path = await pipe();
  const stop = new AbortController();
  const staged = stageManifest(path, folder, { signal: stop.signal, onWaiting: () => stop.abort() });
  await expect(staged).rejects.toMatchObject({ name: 'AbortError' });
  expect(await readdir(folder)).toEqual([]);
  // No process has it open any more.
  const writing = open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  await expect(writing).rejects.toMatchObject({ code: 'ENXIO' });
});

const allowed = 'is larger than max_manifest_size (5 kB); split it, or raise that setting';

test('a manifest that is too large is refused, from any source, and nothing stays behind', async () => {
  const folder = await temporaryFolder();
  const file = await manifestFile('a.csv', csv);
  const code = 'MANIFEST_TOO_LARGE';
  const tooLarge = (name: string) => ({ kind: 'usage', code, message: `${name}: the file ${allowed}` });
  const limits = { maxBytes: 5_000 };
  await expect(openManifest(file, { context: limits })).rejects.toMatchObject(tooLarge(file));
  await expect(stageManifest(file, folder, limits)).rejects.toMatchObject(tooLarge(file));
  const stdin = Readable.from([Buffer.from(csv.slice(0, 4_999)), Buffer.from(csv.slice(4_999))]);
  await expect(stageManifest('-', folder, { ...limits, stdin })).rejects.toMatchObject(tooLarge('<stdin>'));
  expect(await readdir(folder)).toEqual([]);
  expect(await allRows(await openManifest(file, { context: { maxBytes: csv.length } }))).toHaveLength(2_000);
});

test('the unzipped text of a gzipped manifest counts, too', async () => {
  const error = await failure('a.csv.gz', csv, { context: { maxBytes: 5_000 } });
  expect([error.code, error.message]).toEqual([
    'MANIFEST_TOO_LARGE',
    `a.csv.gz: the unzipped text ${allowed}`,
  ]);
  const bomb = `id,note\n${'\n'.repeat(50_000_000)}1,x\n`;
  expect((await failure('a.csv.gz', bomb, { context: { maxBytes: 1_000_000 } })).code).toBe(error.code);
});

test('a worker thread that has read a pipe closes no descriptor of another file when it ends', async () => {
  const path = await pipe();
  const stage = pathToFileURL('dist/src/engine/manifest/stage.js').href;
  const reading = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.stage).then(async ({ readInput }) => {
      let text = '';
      for await (const chunk of readInput(workerData.path, 'pipe')) text += chunk;
      parentPort.postMessage(text);
      parentPort.once('message', () => process.exit());
    });`;
  const worker = new Worker(reading, { eval: true, workerData: { stage, path } });
  const answered = once(worker, 'message');
  await writeFile(path, 'a,b\n');
  expect(await answered).toEqual(['a,b\n']);
  const descriptors = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
  worker.postMessage('end');
  await once(worker, 'exit');
  for (const descriptor of descriptors) closeSync(descriptor);
});
