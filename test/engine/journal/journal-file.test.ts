import { appendFile, copyFile, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { JournalView } from '../../../src/engine/journal/journal.ts';
import { encodeEntry, encodeHeader, type JournalEntry } from '../../../src/engine/journal/line.ts';
import { openJournal } from '../../../src/engine/journal/open.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { anyResult, finished } from './arbitraries.ts';

let path: string;

beforeEach(async () => {
  path = join(await temporaryFolder(), 'journal.jsonl');
});

/** A run that has started. */
const recorded = { rows: 100_000, finished: 0 };

async function resultsOf(journal: JournalView, first?: number, last?: number): Promise<readonly RowResult[]> {
  const results: RowResult[] = [];
  for await (const part of journal.results(first, last)) results.push(...part);
  return results;
}

async function write(...entries: readonly JournalEntry[]): Promise<void> {
  await writeFile(path, encodeHeader('r1') + entries.map((entry) => encodeEntry(entry)).join(''));
}

describe('a journal', () => {
  test('begins with its header and is readable by its owner only', async () => {
    await (await openJournal(path, { runId: 'r1' })).close();
    expect(await readFile(path, 'utf8')).toBe('{"journal":1,"run":"r1"}\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('is read back exactly when it is opened again, with results in row order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyResult(100_000), { selector: ({ row }) => row, maxLength: 40 }),
        async (results) => {
          await rm(path, { force: true });
          const writer = await openJournal(path, { runId: 'r1' });
          const appends = results.map((result) => writer.append([{ type: 'row', result }]));
          expect((await Promise.all(appends)).flat()).toStrictEqual(results);
          const ordered = results.toSorted((a, b) => a.row - b.row);
          expect(await resultsOf(writer)).toStrictEqual(ordered);
          await writer.close();

          const journal = await openJournal(path, { runId: 'r1' });
          expect(await resultsOf(journal)).toStrictEqual(ordered);
          await journal.close();
        },
      ),
      { numRuns: 50 },
    );
  });

  test('hands out any range of rows in parts, even with lines longer than a block of the reader', async () => {
    const count = 2_500;
    const entries = Array.from({ length: count }, (_, index) =>
      finished(((index * 1_231) % count) + 1, { message: 'é'.repeat(index % 1_000 === 0 ? 200_000 : 5) }),
    );
    const journal = await openJournal(path, { runId: 'r1' });
    await journal.append(entries);
    expect((await resultsOf(journal)).map((result) => result.row)).toEqual(
      entries.map((_, index) => index + 1),
    );
    expect((await resultsOf(journal, 100, 102)).map((result) => result.row)).toEqual([100, 101, 102]);
    expect((await resultsOf(journal, count, count + 9)).map((result) => result.row)).toEqual([count]);
    expect(await resultsOf(journal, count + 1)).toEqual([]);
    const sizes: number[] = [];
    for await (const part of journal.results()) sizes.push(part.length);
    expect(sizes).toEqual([1_000, 1_000, 500]);
    await journal.close();
  });

  test('finishes its appends before it closes, and closes once', async () => {
    const journal = await openJournal(path, { runId: 'r1' });
    const append = journal.append([finished(1)]);
    await Promise.all([journal.close(), journal.close()]);
    expect(await append).toHaveLength(1);
    await expect(journal.append([finished(2)])).rejects.toMatchObject({
      code: 'JOURNAL_UNWRITABLE',
      kind: 'fatal',
    });
  });

  test.each([
    ['removed', (file: string) => rm(file)],
    ['moved', (file: string) => rename(file, `${file}.moved`)],
    ['replaced', (file: string) => copyFile(file, `${file}.copy`).then(() => rename(`${file}.copy`, file))],
  ])(
    'is lost when its file was %s, even while nothing is appended, and accepts no more',
    async (_title, harm) => {
      const journal = await openJournal(path, { runId: 'r1' });
      await journal.append([finished(1)]);
      expect(await journal.isIntact()).toBe(true);
      const { lost } = journal;
      await harm(path);
      expect(await lost).toMatchObject({ code: 'JOURNAL_REMOVED', kind: 'fatal' });
      expect(await journal.isIntact()).toBe(false);
      await expect(journal.append([finished(2)])).rejects.toMatchObject({ code: 'JOURNAL_REMOVED' });
      await journal.close();
    },
  );

  test('refuses to write after another process has written', async () => {
    const suspended = await openJournal(path, { runId: 'r1' });
    await suspended.append([finished(1)]);
    const successor = await openJournal(path, { runId: 'r1' });
    await successor.append([finished(2)]);
    await expect(suspended.append([finished(3)])).rejects.toMatchObject({ code: 'JOURNAL_UNWRITABLE' });
    await successor.append([finished(3)]);
    await Promise.all([suspended.close(), successor.close()]);
    const again = await openJournal(path, { runId: 'r1', recorded });
    expect(again.finishedCount).toBe(3);
    await again.close();
  });

  test('restores what is unsettled and what is open', async () => {
    const history = { attempts: 2, unprocessed: 1, unclear: true };
    const journal = await openJournal(path, { runId: 'r1' });
    const fed = { type: 'fed', first: 1, last: 4, batch: 'b', to: 'life 1' } as const;
    await journal.append([fed, finished(2), { type: 'open', row: 3, history }]);
    await journal.close();
    const again = await openJournal(path, { runId: 'r1', recorded });
    expect([...again.unsettledRows()]).toEqual([1, 4]);
    expect(again.fedEpochOf(1)).toBe('life 1');
    expect(again.history(3)).toEqual(history);
    await again.close();
  });
});

describe('a reader', () => {
  test('waits for the rest of a line that is being written', async () => {
    await write(finished(1));
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    const line = encodeEntry(finished(2, { message: 'é😀' }));
    const bytes = Buffer.from(line);
    for (let written = 0; written < bytes.length; written++) {
      await reader.refresh();
      expect(reader.finishedCount).toBe(1);
      await appendFile(path, bytes.subarray(written, written + 1));
    }
    await reader.refresh();
    expect((await resultsOf(reader, 2))[0]?.message).toBe('é😀');
    await reader.close();
  });

  test('is not misled by a torn line that another writer has since replaced', async () => {
    await write(finished(1));
    await appendFile(path, '{"row":2,"op":"torn');
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    expect(await resultsOf(reader)).toHaveLength(1);
    const writer = await openJournal(path, { runId: 'r1' });
    await writer.append([finished(3)]);
    await reader.refresh();
    expect((await resultsOf(reader)).map((result) => result.row)).toEqual([1, 3]);
    await Promise.all([reader.close(), writer.close()]);
  });

  test('reports when lines that it knows are gone', async () => {
    await write(finished(1), finished(2));
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    await truncate(path, 40);
    await expect(reader.refresh()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    await expect(resultsOf(reader)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    const refresh = expect(reader.refresh()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    await reader.close();
    await refresh;
  });
});
