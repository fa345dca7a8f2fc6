import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

test('the executable does the main job where there is no Node', { timeout: 600_000 }, async () => {
  const { stdout } = await run(process.execPath, ['src/build/executable/build.js'], { cwd: root });
  const executable = join(root, stdout.trim());
  expect((await stat(executable)).size).toBeLessThan(150_000_000);

  const home = await temporaryFolder();
  const cwd = join(home, 'work');
  await mkdir(cwd);
  await copyFile(join(root, 'examples/mixed.csv'), join(cwd, 'mixed.csv'));
  const { env } = await startSandbox();
  const cqbatch = (...args: string[]) =>
    run(executable, args, { cwd, env: { ...env, HOME: home, PATH: home, TMPDIR: home } });

  // Three first starts at once.
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const first = await Promise.all([1, 2, 3].map(() => cqbatch('--version')));
  expect(first).toEqual(first.map(() => ({ stdout: `${version}\n`, stderr: '' })));

  const ended = await cqbatch('run', 'mixed.csv', '--yes', '--allow-partial').catch((error) => error);
  expect(ended.stdout).toMatch(/^Run \S+ completed after \d+ s: 201 rows, /m);
  const { files } = JSON.parse((await cqbatch('report', '--json')).stdout);
  expect((await readFile(join(cwd, files.report), 'utf8')).trimEnd().split('\n')).toHaveLength(202);
  expect(await readFile(join(cwd, files.html), 'utf8')).toContain('<script');

  await cqbatch('init');
  const { $schema } = JSON.parse(await readFile(join(cwd, '.cqbatch/config.json'), 'utf8'));
  expect(JSON.parse(await readFile(new URL($schema), 'utf8'))).toHaveProperty('properties.base_url');
});
