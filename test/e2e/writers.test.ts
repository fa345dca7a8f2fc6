import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Remembers 60 APIs, six at a time. */
const script = `
const [module, stateDir, name] = process.argv.slice(1);
const { rememberTarget } = await import(module);
for (let round = 0; round < 60; round += 6)
  await Promise.all([0, 1, 2, 3, 4, 5].map((n) => rememberTarget(stateDir, 'https://' + name + (round + n), 'used')));
`;

test('processes that write one file at once never fail, and no reader finds broken JSON', async () => {
  const folder = await temporaryFolder();
  const module = pathToFileURL('dist/src/engine/run/record/targets.js').href;
  const writing = Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, module, folder, name]),
    ),
  );
  let isOver = false;
  writing.finally(() => {
    isOver = true;
  });
  const path = join(folder, 'targets.json');
  const read = async (): Promise<object> => JSON.parse(await readFile(path, 'utf8'));
  while (!isOver)
    await read().catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  await writing;
  expect(await read()).toMatchObject({ version: 1 });
  expect(await readdir(folder)).toEqual(['targets.json']);
});
