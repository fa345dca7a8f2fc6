import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as library from '../../src/index.ts';

const pages = ['docs/library.md', 'docs/api-client.md', 'docs/operations.md'];

/** The text of each file of the command line. */
async function commandLine(): Promise<readonly string[]> {
  const files = await readdir('src/cli', { recursive: true });
  return Promise.all(
    files.filter((file) => file.endsWith('.ts')).map((file) => readFile(join('src/cli', file), 'utf8')),
  );
}

test('the library exports what the command line uses or a page describes, and nothing else', async () => {
  const importing = /import \{([^}]*)\} from '(?:\.\.\/)+index\.ts'/g;
  const used = (await commandLine()).flatMap((text) =>
    [...text.matchAll(importing)].flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
  );
  const described = (await Promise.all(pages.map((page) => readFile(page, 'utf8')))).join('\n');
  const idle = Object.keys(library).filter(
    (name) => !used.includes(name) && !new RegExp(`\\b${name}\\b`).test(described),
  );
  expect(idle).toEqual([]);
});
