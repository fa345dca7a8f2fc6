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

/** What the page says of a figure, and the constant. */
const figures = [
  ['up to 250 rows', 'src/engine/run/feed/feed-window.ts', 'maxBatchRows = 250;'],
  ['a lock of 20 s', 'src/engine/queue/bullmq.ts', 'lockMs = 20_000;'],
  ['20 to 30 s later', 'src/engine/queue/bullmq.ts', 'stalledInterval: 5_000,'],
  ['after a second from its ledger', 'src/engine/queue/open-batch.ts', 'readAfterMs = 1_000;'],
  ['never two seconds behind', 'src/engine/run/feed/coordinator.ts', 'refreshMs = 500;'],
  ['every 30 s', 'src/engine/queue/batch-queue.ts', 'usualCompareMs = 30_000;'],
  ['the last 25 batches', 'src/engine/queue/batch-flow.ts', 'keptBatches = 25;'],
  ['half a lock', 'src/engine/queue/ledger/ledger-writer.ts', 'lockMs / 2'],
  ['five such calls', 'src/engine/worker/breaker/early-calls.ts', 'mostUnclearCalls = 5;'],
  ['the next 500 requests', 'src/engine/run/record/run-rows.ts', 'checkedRows = 500;'],
  ['after a minute of silence', 'src/base/disk/lock-holder.ts', 'staleAfterMs = 60_000;'],
  ['after ten refusals', 'src/engine/worker/other-rows.ts', 'refusals: { refusals: 10,'],
  ['fails after five', 'src/engine/worker/other-rows.ts', 'failures: { refusals: 5,'],
  ['a lease of two seconds', 'src/engine/cluster/timeline.ts', 'leaseMs = 2_000;'],
  ['expire after two seconds', 'src/engine/cluster/timeline.ts', 'rateTtlMs = 2_000;'],
  ['portions of a thousand', 'src/engine/report/html/row-packs.ts', 'portionRows = 1_000;'],
] as const;

test.each(figures)('the page says "%s", as %s does: %s', async (words, path, constant) => {
  expect(page.replaceAll(/\s+/g, ' ')).toContain(words);
  expect(await readFile(path, 'utf8')).toContain(constant);
});
