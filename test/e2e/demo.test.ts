import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const demo = fileURLToPath(new URL('../../examples/demo.js', import.meta.url));
const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };

// What it does is shown with the installed program, in test/install/packed.test.ts.
test('the demo touches only its own folder', async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, 'demo'));
  await writeFile(join(cwd, 'demo', 'mine.txt'), '');
  await expect(promisify(execFile)(process.execPath, [demo], { cwd, env })).rejects.toMatchObject({
    code: 2,
  });
  expect(await readdir(join(cwd, 'demo'))).toEqual(['mine.txt']);
});
