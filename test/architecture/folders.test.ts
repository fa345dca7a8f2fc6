import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const mostFiles = 20;
const mostLines = 300;

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

const files = (await Promise.all(['src', 'jobs'].map(filesBelow))).flat();

test(`no folder has more than ${mostFiles} files side by side`, () => {
  const crowded = [...new Set(files.map(dirname))].filter(
    (folder) => files.filter((file) => dirname(file) === folder).length > mostFiles,
  );
  expect(crowded).toEqual([]);
});

test(`no file is longer than ${mostLines} lines`, async () => {
  const lines = await Promise.all(
    files.map(async (file) => [file, (await readFile(file, 'utf8')).split('\n').length - 1] as const),
  );
  expect(lines.filter(([, count]) => count > mostLines)).toEqual([]);
});
