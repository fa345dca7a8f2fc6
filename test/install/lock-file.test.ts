import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { lockedPackages, npm } from './npm.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const locked = await lockedPackages();

test('npm install does not change the lock file', async () => {
  const cwd = await temporaryFolder();
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    await copyFile(join(root, name), join(cwd, name));
  await npm(['install', '--package-lock-only', '--ignore-scripts'], { cwd, home: cwd });
  const [before, after] = await Promise.all(
    [root, cwd].map((folder) => readFile(join(folder, 'package-lock.json'), 'utf8')),
  );
  expect(after).toBe(before);
});

test('the lock file names no registry', () => {
  expect([...locked].filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('the lock file has what every platform needs', () => {
  const missing = [...locked].flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !locked.has(`node_modules/${name}`) && !locked.has(`${path}/node_modules/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});
