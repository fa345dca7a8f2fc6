import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const demo = fileURLToPath(new URL('../../examples/demo.js', import.meta.url));
const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };

test('the demo stays in a folder in which the commands that it prints can be typed', async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [demo], { cwd, env });
  const [, list = ''] = stdout.split('What you can type now:\n');
  const commands = list.split('\n').map((line) => line.trim().split(/ {2,}/)[0] ?? '');
  expect(commands).toContain('cqbatch status');

  // A shell without a terminal can't be asked. Some rows fail, and nothing may be left behind.
  const script = commands.map((command) => command.replace(/^cqbatch run .*/, '$& --yes || [ $? = 1 ]'));
  const shell = ['-c', ['set -e', "trap 'kill $!' EXIT", ...script].join('\n')];
  const typed = await promisify(execFile)('/bin/sh', shell, { cwd, env });
  expect(typed.stdout).toMatch(/^Run \S+ completed$/m);
  expect(typed.stdout).toMatch(/^run +state/m);
  expect(typed.stdout).toMatch(/^mixed\.csv: 201 rows/m);
  expect(typed.stdout).toMatch(/^Run \S+ completed after \d+ s: 201 rows, /m);
});

test('the demo touches no folder that is not its own', async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, 'demo'));
  await writeFile(join(cwd, 'demo', 'mine.txt'), '');
  await expect(promisify(execFile)(process.execPath, [demo], { cwd, env })).rejects.toMatchObject({
    code: 2,
  });
  expect(await readdir(join(cwd, 'demo'))).toEqual(['mine.txt']);
});
