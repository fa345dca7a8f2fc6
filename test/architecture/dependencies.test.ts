import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the page on dependencies has each direct one, with its version', async () => {
  const rows = (await read('docs/dependencies.md')).matchAll(/^\| `([^`]+)` \| (\d\S*) \|/gm);
  const { devDependencies, ...others } = JSON.parse(await read('package.json')) as {
    devDependencies: Record<string, string>;
    dependencies?: unknown;
  };
  // A range, as `20`, allows each version that begins with it.
  const ofPage = [...rows].map(([, name = '', version = '']) => {
    const wanted = devDependencies[name];
    return [name, version === wanted || version.startsWith(`${wanted}.`) ? wanted : version];
  });
  expect(Object.fromEntries(ofPage)).toEqual(devDependencies);
  expect(others).not.toHaveProperty('dependencies');
});
