import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { built } from '../helpers/built.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { openEmbedded } = await built<typeof import('../../src/datastore/embedded/embedded.ts')>(
  'datastore/embedded/embedded',
);

/** A process that holds the datastore of a state folder until it is killed. */
async function holder(stateDir: string) {
  const script = `
    const { openEmbedded } = await import(process.argv[1]);
    await openEmbedded({ stateDir: process.argv[2], purpose: 'run of another process' });
    process.stdout.write('open');
    setInterval(() => {}, 1000);`;
  const module = new URL('../../dist/src/datastore/embedded/embedded.js', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, module, stateDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('the embedded datastore', () => {
  test('is made on the first opening and found again on the next', async () => {
    const stateDir = await temporaryFolder();
    for (const purpose of ['first', 'second']) {
      const datastore = await openEmbedded({ stateDir, purpose });
      expect(datastore).toMatchObject({ kind: 'embedded', exclusive: true });
      await datastore.maintain();
      await datastore.close();
      await datastore.close();
    }
  });

  test('is refused to a second process, with the name of the first, even while that is suspended', async () => {
    const stateDir = await temporaryFolder();
    const child = await holder(stateDir);
    child.kill('SIGSTOP');
    const opening = openEmbedded({ stateDir, purpose: 'second' });
    await expect(opening).rejects.toMatchObject({ kind: 'fatal', code: 'DATASTORE_LOCKED' });
    await expect(opening).rejects.toThrow(
      `process ${child.pid} on ${hostname()} (run of another process, since`,
    );
  });

  test('is free again when its process was killed', async () => {
    const stateDir = await temporaryFolder();
    const child = await holder(stateDir);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const datastore = await openEmbedded({ stateDir, purpose: 'second' });
    await datastore.close();
  });

  test('is never taken from a process of another machine that has just been there', async () => {
    const stateDir = await temporaryFolder();
    await holder(stateDir);
    const file = join(stateDir, 'queue.holder.json');
    const elsewhere = { ...JSON.parse(await readFile(file, 'utf8')), host: 'elsewhere', pid: 1 };
    await writeFile(file, JSON.stringify(elsewhere));
    await expect(openEmbedded({ stateDir, purpose: 'second' })).rejects.toThrow('process 1 on elsewhere');
  });

  test('says what to do when its folder is damaged', async () => {
    const stateDir = await temporaryFolder();
    await writeFile(join(stateDir, 'queue'), 'not a folder');
    await expect(openEmbedded({ stateDir, purpose: 'first' })).rejects.toMatchObject({
      code: 'DATASTORE_UNUSABLE',
    });
  });
});
