import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const exported =
  /^export (?:declare |abstract )*(?:async )?(?:function|class|const|interface|type) (?<name>\w+)/gm;

/** Which files export each name. */
async function exporters(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const files = new Map<string, Set<string>>();
  for (const folder of ['src', 'jobs'])
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith('.ts')) continue;
      const path = join(folder, file);
      for (const { groups } of (await readFile(path, 'utf8')).matchAll(exported)) {
        const name = groups?.['name'] ?? '';
        files.set(name, (files.get(name) ?? new Set()).add(path));
      }
    }
  return files;
}

test('one thing has one name: two files export the same only where the sandbox must not know the client', async () => {
  const twice = [...(await exporters())].filter(([, files]) => files.size > 1);
  const isOfSandbox = (path: string): boolean => path.startsWith('src/sandbox/');
  const wrong = twice.filter(([, files]) => files.size > 2 || [...files].filter(isOfSandbox).length !== 1);
  expect(wrong.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([]);
  expect(twice.length).toBeLessThanOrEqual(10);
});
