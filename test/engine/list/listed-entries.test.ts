import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type EntryLists, openEntryLists } from '../../../src/engine/list/entry-lists.ts';
import { ListedEntries } from '../../../src/engine/list/listed-entries.ts';
import type { ListedEntry } from '../../../src/engine/operation/list-definition.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { clientOf, httpServer } from '../api/local-server.ts';
import { archive, listing, page, sends } from './listing.ts';

const list = archive.list ?? expect.fail('the operation has a list');

async function kept(entries: readonly ListedEntry[]): Promise<ListedEntries> {
  const path = join(await temporaryFolder(), 'entries');
  const chunks = async function* () {
    for (let at = 0; at < entries.length; at += 7) yield entries.slice(at, at + 7);
  };
  const reader = { entries: chunks, listed: entries.length, repeats: 0, unreadable: 0 };
  const known = await ListedEntries.read(list, reader, path);
  onTestFinished(() => known.close());
  return known;
}

const entryOf = (id: number): ListedEntry => ({
  id: String(id),
  fields: { call_id: String(id), ...(id % 3 > 0 && { note: `${'ü'.repeat(id % 500)} "${id}"\n` }) },
  columns: { by: 'u' },
  ...(id % 5 === 0 && { unfit: 'is locked' }),
});

test('each of many entries is found again, in any order, with what was listed', async () => {
  const entries = Array.from({ length: 3_000 }, (_, id) => entryOf(id));
  const known = await kept(entries);
  const odd = entries.map((_, at) => (at * 1_009) % entries.length);
  for (const at of [...entries.keys(), ...odd]) {
    const { columns: _, id, ...entry } = entryOf(at);
    expect(known.find(id)).toEqual(entry);
  }
  expect(known.find('3000')).toBeUndefined();
  expect(known.counts).toEqual({ listed: 3_000, repeats: 0, unreadable: 0 });
});

test('an entry that is larger than what is read at once is found', async () => {
  const note = 'x'.repeat(100_000);
  const known = await kept([
    entryOf(1),
    { id: '2', fields: { call_id: '2', note }, columns: {} },
    entryOf(4),
  ]);
  expect(known.find('2')?.fields).toEqual({ call_id: '2', note });
  expect(known.find('4')?.fields).toEqual(entryOf(4).fields);
});

test('a list that can not be read to its end leaves no file', async () => {
  const { reader } = await listing(sends('{"old_calls":7}'));
  const folder = await temporaryFolder();
  await expect(ListedEntries.read(list, reader, join(folder, 'entries'))).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
});

async function lists(
  reading: string[],
): Promise<{ readonly opened: EntryLists; readonly calls: () => number }> {
  let calls = 0;
  const server = await httpServer((response) => {
    calls++;
    response.writeHead(200).end(page([1, 2]));
  });
  const releases: (() => unknown)[] = [];
  onTestFinished(async () => {
    for (const release of releases) await release();
  });
  const opened = openEntryLists(
    {
      client: clientOf(server.url),
      attempts: 1,
      backoffMs: 1,
      maxOutageMs: null,
      spacingMs: 0,
      signal: new AbortController().signal,
      ifMissing: '',
      folder: await temporaryFolder(),
      onReading({ name }) {
        reading.push(`begin ${name}`);
        return () => reading.push(`end ${name}`);
      },
    },
    (release) => releases.push(release),
  );
  return { opened, calls: () => calls };
}

test('a list is read once, however many ask for it', async () => {
  const reading: string[] = [];
  const { opened, calls } = await lists(reading);
  const [first, second] = await Promise.all([opened.of(archive), opened.of(archive)]);
  expect(first).toBe(second);
  expect(first.find('2')).toEqual({ fields: { call_id: '2' } });
  expect([calls(), opened.all.length]).toEqual([1, 1]);
  expect(reading).toEqual(['begin old-calls', 'end old-calls']);
});

test('an operation without a list can not be compared', async () => {
  const { list: _, ...blind } = archive;
  const { opened } = await lists([]);
  await expect(opened.of(blind)).rejects.toThrow(/archive-call can't be compared .* leave out --compare/);
});
