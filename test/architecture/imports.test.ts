import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allowedImports } from './allowed-imports.ts';

interface Import {
  readonly from: string;
  /** A file, or the name of a package. */
  readonly to: string;
  readonly isPackage: boolean;
}

const importStatement =
  /^(?:(?:import|export)\b|\})[^'\n]*\bfrom '(?<specifier>[^']+)';$|\bimport\('(?<dynamic>[^']+)'\)/gm;

const names = Object.keys(allowedImports);

/** Whether a file belongs to an entry of the list. */
function isIn(name: string, path: string): boolean {
  return path === name || path.startsWith(`${name}/`);
}

function entryOf(path: string): string {
  const entries = names.filter((name) => isIn(name, path));
  if (entries.length === 0) throw new Error(`${path} belongs to no entry of allowed-imports.ts`);
  return entries.reduce((a, b) => (a.length > b.length ? a : b));
}

/** What allows an import; undefined when nothing does. */
function allowanceFor({ from, to, isPackage }: Import): string | undefined {
  const { folders = [], packages = [] } = allowedImports[entryOf(from)] ?? {};
  return isPackage ? packages.find((name) => name === to) : folders.find((folder) => isIn(folder, to));
}

async function importsOf(from: string): Promise<Import[]> {
  const text = await readFile(from, 'utf8');
  return [...text.matchAll(importStatement)]
    .map((match) => match.groups?.['specifier'] ?? match.groups?.['dynamic'] ?? '')
    .filter((specifier) => !isBuiltin(specifier))
    .map((specifier) => {
      const isPackage = !specifier.startsWith('.');
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
      return { from, to: isPackage ? name : join(dirname(from), specifier), isPackage };
    });
}

const files = (
  await Promise.all(
    ['src', 'jobs'].map(async (folder) =>
      (await readdir(folder, { recursive: true })).map((name) => join(folder, name)),
    ),
  )
)
  .flat()
  .filter((path) => /\.[jt]s$/.test(path));
const imports = (await Promise.all(files.map(importsOf))).flat();
const abroad = imports.filter(({ from, to, isPackage }) => isPackage || entryOf(from) !== entryOf(to));

describe('the imports between folders', () => {
  test('is as allowed', () => {
    const forbidden = abroad.filter((each) => allowanceFor(each) === undefined);
    expect(forbidden.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('uses everything that is allowed', () => {
    const used = new Set(abroad.map((each) => `${entryOf(each.from)} → ${allowanceFor(each)}`));
    const listed = Object.entries(allowedImports).flatMap(([name, { folders, packages }]) =>
      [...folders, ...packages].map((each) => `${name} → ${each}`),
    );
    expect(listed.filter((each) => !used.has(each))).toEqual([]);
  });

  test('points down: no file imports from a folder above its own', () => {
    const upwards = abroad.filter(
      ({ from, to, isPackage }) => !isPackage && names.indexOf(entryOf(to)) < names.indexOf(entryOf(from)),
    );
    expect(upwards.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('is between folders that docs/architecture.md shows in this order', async () => {
    const page = await readFile('docs/architecture.md', 'utf8');
    const [, tree = ''] = /^## The folders\n.*?^```\n(.*?)^```$/ms.exec(page) ?? [];
    let above = '';
    const shown = tree.split('\n').flatMap((line) => {
      const [, indent = '', name = '', purpose = ''] = /^( *)(\S+)(?: +(.*))?$/.exec(line) ?? [];
      if (indent === '') above = name;
      if (purpose === '') return [];
      const path = indent === '' ? name : `${above}/${name}`;
      const [inside = ''] = purpose.split(': see below');
      return inside === purpose ? [path] : inside.split(', ').map((each) => `${path}/${each}`);
    });
    expect(shown).toEqual(names);
  });
});

test('commands that only look at runs load no code that checks manifests', async () => {
  const loaded = new Set(['src/cli/commands/status.ts', 'src/cli/commands/list.ts']);
  // The set grows while it is read.
  for (const file of loaded) {
    const code = (await readFile(file, 'utf8')).replaceAll(/^import type [^;]*;/gm, '');
    for (const { groups } of code.matchAll(importStatement)) {
      const specifier = groups?.['specifier'] ?? '';
      if (specifier.startsWith('.')) loaded.add(join(dirname(file), specifier));
    }
  }
  expect([...loaded].filter((file) => file.startsWith('src/engine/manifest/check/'))).toEqual([]);
});
