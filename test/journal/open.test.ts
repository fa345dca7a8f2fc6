import {
  appendFile,
  copyFile,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noHistory, type RowResult } from '../../src/domain.ts';
import type { JournalEntry, JournalView } from '../../src/journal/journal.ts';
import { encodeEntry, encodeHeader } from '../../src/journal/line.ts';
import { openJournal } from '../../src/journal/open.ts';
import { anyEntry, anyResult, resultOf } from './arbitraries.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cqbatch-journal-'));
  path = join(folder, 'journal.jsonl');
});

afterEach(() => rm(folder, { recursive: true }));

/** A run that has begun. */
const begun = { rows: 100_000, finished: 0 };

const row = (number: number, more: Partial<RowResult> = {}): JournalEntry => ({
  type: 'row',
  result: resultOf(number, more),
});

async function resultsOf(journal: JournalView, first?: number, last?: number): Promise<readonly RowResult[]> {
  const results: RowResult[] = [];
  for await (const part of journal.results(first, last)) results.push(...part);
  return results;
}

async function write(...entries: readonly JournalEntry[]): Promise<void> {
  await writeFile(path, encodeHeader('r1') + entries.map(encodeEntry).join(''));
}

describe('a journal', () => {
  test('begins with its header and is readable by its owner only', async () => {
    await (await openJournal(path, { runId: 'r1' })).close();
    expect(await readFile(path, 'utf8')).toBe('{"journal":1,"run":"r1"}\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('comes back exactly when it is opened again, results in row order', async () => {
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

  test('hands out any range of rows in parts, with lines that are longer than a block of the reader', async () => {
    const count = 2_500;
    const entries = Array.from({ length: count }, (_, index) =>
      row(((index * 1_231) % count) + 1, { message: 'é'.repeat(index % 1_000 === 0 ? 200_000 : 5) }),
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

  test('reads results between appends, in a block that grows', async () => {
    const journal = await openJournal(path, { runId: 'r1' });
    for (let number = 1; number <= 20; number++) {
      await journal.append([row(number)]);
      expect((await resultsOf(journal, number)).map((result) => result.row)).toEqual([number]);
    }
    await journal.close();
  });

  test('finishes its appends before it closes, and closes once', async () => {
    const journal = await openJournal(path, { runId: 'r1' });
    const append = journal.append([row(1)]);
    await Promise.all([journal.close(), journal.close()]);
    expect(await append).toHaveLength(1);
    await expect(journal.append([row(2)])).rejects.toMatchObject({
      code: 'JOURNAL_UNWRITABLE',
      kind: 'fatal',
    });
  });

  test.each([
    ['removed', (file: string) => rm(file)],
    ['moved', (file: string) => rename(file, `${file}.moved`)],
    ['replaced', (file: string) => copyFile(file, `${file}.copy`).then(() => rename(`${file}.copy`, file))],
  ])(
    'is lost when its file was %s, even while nothing is appended, and takes no more',
    async (_title, harm) => {
      const journal = await openJournal(path, { runId: 'r1' });
      await journal.append([row(1)]);
      expect(await journal.isIntact()).toBe(true);
      const { lost } = journal;
      await harm(path);
      expect(await lost).toMatchObject({ code: 'JOURNAL_REMOVED', kind: 'fatal' });
      expect(await journal.isIntact()).toBe(false);
      await expect(journal.append([row(2)])).rejects.toMatchObject({ code: 'JOURNAL_REMOVED' });
      await journal.close();
    },
  );

  test('refuses to write where another process has written meanwhile', async () => {
    const suspended = await openJournal(path, { runId: 'r1' });
    await suspended.append([row(1)]);
    const successor = await openJournal(path, { runId: 'r1' });
    await successor.append([row(2)]);
    await expect(suspended.append([row(3)])).rejects.toMatchObject({ code: 'JOURNAL_UNWRITABLE' });
    await successor.append([row(3)]);
    await Promise.all([suspended.close(), successor.close()]);
    const again = await openJournal(path, { runId: 'r1', begun });
    expect(again.finishedCount).toBe(3);
    await again.close();
  });

  test('knows again what is unsettled and what is open', async () => {
    const history = { attempts: 2, unprocessed: 1, unclear: true };
    const journal = await openJournal(path, { runId: 'r1' });
    const fed = { type: 'fed', first: 1, last: 4, to: 'life 1' } as const;
    await journal.append([fed, row(2), { type: 'open', row: 3, history }]);
    await journal.close();
    const again = await openJournal(path, { runId: 'r1', begun });
    expect([...again.unsettledRows()]).toEqual([1, 4]);
    expect(again.fedTo(1)).toBe('life 1');
    expect(again.history(3)).toEqual(history);
    await again.close();
  });
});

describe('a journal that a crash has torn', () => {
  test('keeps its complete lines and takes new ones, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry(20), { minLength: 1, maxLength: 4 }), async (entries) => {
        const lines = entries.map((entry) => Buffer.from(encodeEntry(entry)));
        const header = Buffer.from(encodeHeader('r1'));
        const whole = Buffer.concat([header, ...lines]);
        for (let size = header.length; size <= whole.length; size++) {
          await writeFile(path, whole.subarray(0, size));
          let kept = header.length;
          for (const line of lines)
            if (kept + line.length <= size) kept += line.length;
            else break;

          const reader = await openJournal(path, { runId: 'r1', readOnly: true });
          await reader.close();
          expect((await stat(path)).size).toBe(size);

          const journal = await openJournal(path, { runId: 'r1' });
          await journal.append([row(99)]);
          await journal.close();
          const expected = Buffer.concat([whole.subarray(0, kept), Buffer.from(encodeEntry(row(99)))]);
          expect(Buffer.compare(await readFile(path), expected)).toBe(0);
        }
      }),
      { numRuns: 3 },
    );
  });

  test('may end in zeros, as some file systems leave them', async () => {
    await writeFile(path, `${encodeHeader('r1')}${encodeEntry(row(1))}{"row":2,"op\0\0\0\0`);
    const journal = await openJournal(path, { runId: 'r1' });
    expect(journal.finishedCount).toBe(1);
    await journal.close();
  });
});

describe('a journal is refused, and left as it is,', () => {
  const good = encodeHeader('r1') + encodeEntry(row(1));
  test.each<[string, string | Buffer, string, RegExp]>([
    [
      'when a line in it is damaged',
      `${good}{"row":2,"outc\n${encodeEntry(row(3))}`,
      'JOURNAL_CORRUPT',
      /jsonl:3: .* and "counts" in run\.json, .*called a second time/,
    ],
    ['when a line in it is of no known kind', `${good}{"paused":true}\n`, 'JOURNAL_CORRUPT', /jsonl:3: /],
    ['when it holds an empty line', `${good}\n${encodeEntry(row(3))}`, 'JOURNAL_CORRUPT', /jsonl:3: /],
    [
      'when it is not UTF-8',
      Buffer.concat([
        Buffer.from(`${good}{"row":2,"outcome":"failed","code":"`),
        Buffer.from([0xff]),
        Buffer.from('"}\n'),
      ]),
      'JOURNAL_CORRUPT',
      /jsonl:3: this line is not UTF-8/,
    ],
    ['when it is that of another run', encodeHeader('r2'), 'JOURNAL_OF_OTHER_RUN', /run r2, not of run r1/],
    ['when it is of a later version', '{"journal":2,"run":"r1"}\n', 'JOURNAL_VERSION', /version 2/],
    [
      'when it is some other file',
      'evaluation_id\n17\n',
      'JOURNAL_CORRUPT',
      /jsonl does not begin with the header/,
    ],
    [
      'when it is some other file of one line',
      'hello',
      'JOURNAL_CORRUPT',
      /jsonl does not begin with the header/,
    ],
    ['when it holds zeros', Buffer.alloc(4_096), 'JOURNAL_CORRUPT', /jsonl does not begin with the header/],
    [
      'when its header is cut off',
      '{"journal":1,"ru',
      'JOURNAL_CORRUPT',
      /jsonl does not begin with the header/,
    ],
  ])('%s', async (_claim, content, code, message) => {
    await writeFile(path, content);
    for (const readOnly of [true, false] as const) {
      const opening = readOnly
        ? openJournal(path, { runId: 'r1', readOnly })
        : openJournal(path, { runId: 'r1' });
      await expect(opening).rejects.toMatchObject({
        kind: 'fatal',
        code,
        message: expect.stringMatching(message),
      });
    }
    expect(Buffer.compare(await readFile(path), Buffer.from(content))).toBe(0);
  });

  test.each<[string, string, RegExp]>([
    [
      'is empty',
      '',
      /jsonl is empty\. .* restore it from a backup, or remove the folder \S+cqbatch-journal-\w+ and/,
    ],
    [
      'has fewer results than its record says',
      good,
      /jsonl has lost lines: it tells of 1 finished rows, run\.json of 2/,
    ],
    [
      'tells of a row that there is not',
      good + encodeEntry(row(6)),
      /jsonl:3: there is no row 6: the manifest has 5/,
    ],
    [
      'tells of a row that there is not to have been fed',
      good + encodeEntry({ type: 'fed', first: 5, last: Number.MAX_SAFE_INTEGER }),
      /jsonl:3: there is no row 9007199254740991: the manifest has 5/,
    ],
    [
      'tells of the attempts of a row that there is not',
      good + encodeEntry({ type: 'open', row: 6, history: noHistory }),
      /jsonl:3: there is no row 6/,
    ],
  ])('when that of a run that has begun %s', async (_claim, content, message) => {
    await writeFile(path, content);
    const run = { runId: 'r1', begun: { rows: 5, finished: content === good ? 2 : 0 } };
    for (const readOnly of [true, false]) {
      const opening = readOnly ? openJournal(path, { ...run, readOnly }) : openJournal(path, run);
      await expect(opening).rejects.toMatchObject({
        kind: 'fatal',
        code: 'JOURNAL_CORRUPT',
        message: expect.stringMatching(message),
      });
    }
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  test('when it is missing though the run has begun', async () => {
    await expect(openJournal(path, { runId: 'r1', readOnly: true })).rejects.toMatchObject({
      code: 'JOURNAL_MISSING',
    });
    await expect(openJournal(path, { runId: 'r1', begun })).rejects.toMatchObject({
      code: 'JOURNAL_MISSING',
    });
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('when it cannot be opened', async () => {
    await expect(openJournal(folder, { runId: 'r1' })).rejects.toMatchObject({ code: 'JOURNAL_UNREADABLE' });
    await expect(openJournal(folder, { runId: 'r1', readOnly: true })).rejects.toMatchObject({
      code: 'JOURNAL_UNREADABLE',
    });
  });
});

describe('a reader', () => {
  test('follows the writer, line by line', async () => {
    const writer = await openJournal(path, { runId: 'r1' });
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    for (let number = 1; number <= 5; number++) {
      await writer.append([row(number)]);
      expect(reader.isFinished(number)).toBe(false);
      await Promise.all([reader.refresh(), reader.refresh()]);
      expect(reader.finishedCount).toBe(number);
      expect((await resultsOf(reader)).map((result) => result.row)).toHaveLength(number);
    }
    await Promise.all([reader.close(), writer.close()]);
  });

  test('waits for the rest of a line that is being written', async () => {
    await write(row(1));
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    const line = encodeEntry(row(2, { message: 'é😀' }));
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

  test('is not misled by a torn line that another writer has replaced since', async () => {
    await write(row(1));
    await appendFile(path, '{"row":2,"op":"torn');
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    expect(await resultsOf(reader)).toHaveLength(1);
    const writer = await openJournal(path, { runId: 'r1' });
    await writer.append([row(3)]);
    await reader.refresh();
    expect((await resultsOf(reader)).map((result) => result.row)).toEqual([1, 3]);
    await Promise.all([reader.close(), writer.close()]);
  });

  test('says so when lines that it knows are gone', async () => {
    await write(row(1), row(2));
    const reader = await openJournal(path, { runId: 'r1', readOnly: true });
    await truncate(path, 40);
    await expect(reader.refresh()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    await expect(resultsOf(reader)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    const refresh = expect(reader.refresh()).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    await reader.close();
    await refresh;
  });
});
