import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const page = await readFile('docs/architecture.md', 'utf8');

/** A file that the page names, and the functions that the page names of it. */
interface Station {
  readonly path: string;
  readonly functions: readonly string[];
}

const sources = (
  await Promise.all(['src', 'jobs'].map((root) => readdir(root, { recursive: true, withFileTypes: true })))
)
  .flat()
  .map(({ parentPath, name }) => join(parentPath, name));

/** The file that a name means: whole, beside the file before, or the only one whose path ends so. */
function fileNamed(name: string, before: string): string {
  if (sources.includes(name)) return name;
  const beside = join(dirname(before), name);
  return sources.includes(beside) ? beside : (sources.find((path) => path.endsWith(`/${name}`)) ?? name);
}

/** The stations of a way, in order. */
function stationsOf(title: string): readonly Station[] {
  const [, section = ''] = new RegExp(`### ${title}\n(.*?)\n##`, 's').exec(page) ?? [];
  const stations: { path: string; functions: string[] }[] = [];
  for (const [, arrow, name = ''] of section.matchAll(/(→\s+|, )?`([^`]+)`/g)) {
    if (name.endsWith('.ts'))
      stations.push({ path: fileNamed(name, stations.at(-1)?.path ?? ''), functions: [] });
    else if (arrow !== undefined) stations.at(-1)?.functions.push(name);
  }
  return stations;
}

describe.each([
  ['A CSV row', 36],
  ['A `resume`', 20],
] as const)('the way of %s', (title, most) => {
  const stations = stationsOf(title);

  test('names files and functions that exist', async () => {
    const wrong: string[] = [];
    for (const { path, functions } of stations) {
      const source = await readFile(path, 'utf8').catch(() => undefined);
      if (source === undefined) wrong.push(path);
      for (const name of functions) {
        const last = name.split('.').at(-1) ?? '';
        if (source !== undefined && !source.includes(last)) wrong.push(`${path} → ${name}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test(`crosses at most ${most} files, as many as the page says`, () => {
    const files = new Set(stations.map(({ path }) => path));
    const [, said] = new RegExp(`### ${title}\n\n(\\d+) files`).exec(page) ?? [];
    expect(files.size).toBe(Number(said));
    expect(files.size).toBeLessThanOrEqual(most);
  });
});

test('the page has each file of a run, with its purpose', async () => {
  const root = 'src/engine/run';
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  const [, tree = ''] = /## The rooms of a run\n\n```\nsrc\/engine\/run\n(.*?)```/s.exec(page) ?? [];
  const named: string[] = [];
  const folders: string[] = [];
  for (const line of tree.trimEnd().split('\n')) {
    const [, indent = '', name = '', purpose] = /^( +)(\S+) +(.+)$/.exec(line) ?? [];
    expect(purpose, line).toBeTruthy();
    const depth = indent.length / 2 - 1;
    folders.splice(depth, folders.length, name);
    if (name.endsWith('.ts')) named.push(folders.join('/'));
  }
  expect(named.toSorted()).toEqual(files.toSorted());
});
