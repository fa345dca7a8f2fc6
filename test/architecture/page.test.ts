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

/** The files that a text names, in order, with their functions. */
function stationsIn(text: string): readonly Station[] {
  const stations: { path: string; functions: string[] }[] = [];
  for (const [, arrow, name = ''] of text.matchAll(/(→\s+|,\s+)?`([^`]+)`/g)) {
    if (/^[\w./-]+\.ts$/.test(name))
      stations.push({ path: fileNamed(name, stations.at(-1)?.path ?? ''), functions: [] });
    // `file.ts` → `one`, `another`
    else if (arrow?.startsWith('→') || (arrow && stations.at(-1)?.functions.length))
      stations.at(-1)?.functions.push(name);
  }
  return stations;
}

function stationsOf(title: string): readonly Station[] {
  return stationsIn(new RegExp(`### ${title}\n(.*?)\n##`, 's').exec(page)?.[1] ?? '');
}

const prose = page.replace(/^```.*?^```$/gms, '');

describe('the page on the architecture', () => {
  test('names files and functions that exist', async () => {
    const stations = stationsIn(prose);
    expect(stations.length).toBeGreaterThan(100);
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

  test('names members of classes that exist', async () => {
    const texts = await Promise.all(
      sources.filter((path) => path.endsWith('.ts')).map((path) => readFile(path, 'utf8')),
    );
    const members = [...prose.matchAll(/`([A-Z]\w+)\.(#?\w+)`/g)];
    expect(members.length).toBeGreaterThan(3);
    const wrong = members.filter(
      ([, owner = '', member = '']) =>
        !texts.some((text) => text.includes(`class ${owner} `) && text.includes(member)),
    );
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  test.each([
    ['A CSV row', 36],
    ['A `resume`', 20],
  ] as const)('%s: crosses at most %s files, as many as the page says', (title, most) => {
    const stations = stationsOf(title);
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
  const [, tree = ''] = /## Inside src\/engine\/run\n\n```\nsrc\/engine\/run\n(.*?)```/s.exec(page) ?? [];
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
