import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Remembers 12 APIs, six at a time. */
const script = `
const [module, stateDir, name] = process.argv.slice(1);
const { rememberUse } = await import(module);
for (let round = 0; round < 12; round += 6)
  await Promise.all([0, 1, 2, 3, 4, 5].map((n) => rememberUse(stateDir, 'https://' + name + (round + n))));
`;

test('processes that change one file at once never fail, lose no change, and no reader finds broken JSON', async () => {
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
  const { targets } = (await read()) as { targets: readonly { readonly base_url: string }[] };
  const remembered = ['a', 'b', 'c', 'd'].flatMap((name) =>
    Array.from({ length: 12 }, (_, n) => `https://${name}${n}`),
  );
  expect(targets.map(({ base_url: url }) => url).toSorted()).toEqual(remembered.toSorted());
  expect(await readdir(folder)).toEqual(['targets.json']);
});
