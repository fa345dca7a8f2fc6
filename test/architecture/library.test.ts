import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as library from '../../src/index.ts';

const pages = ['docs/library.md', 'docs/api-client.md', 'docs/operations.md'];

test('a page describes each value that the library exports', async () => {
  const described = (await Promise.all(pages.map((page) => readFile(page, 'utf8')))).join('\n');
  expect(Object.keys(library).filter((name) => !new RegExp(`\\b${name}\\b`).test(described))).toEqual([]);
});

test('the library has at most 61 exports, types included', async () => {
  const lists = (await readFile('src/index.ts', 'utf8')).matchAll(/^export (?:type )?\{([^}]*)\} from/gm);
  const names = [...lists].flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
  expect(names.length).toBeGreaterThan(Object.keys(library).length);
  expect(names.length).toBeLessThanOrEqual(61);
});
