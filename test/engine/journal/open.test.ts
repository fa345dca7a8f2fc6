import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeEntry, encodeHeader } from '../../../src/engine/journal/line.ts';
import { openJournal, type RecordedRun } from '../../../src/engine/journal/open.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { anyEntry, finished } from './arbitraries.ts';

let path: string;

beforeEach(async () => {
  path = join(await temporaryFolder(), 'journal.jsonl');
});

/** A run that has started. */
const recorded = { rows: 100_000, finished: 0 };

describe('a journal that a crash has torn', () => {
  test('keeps its complete lines and accepts new ones, wherever it was torn', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry(20), { minLength: 1, maxLength: 3 }), async (entries) => {
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
          await journal.append([finished(99)]);
          await journal.close();
          const before = whole.subarray(0, kept);
          const expected = Buffer.concat([before, Buffer.from(encodeEntry(finished(99)))]);
          expect(Buffer.compare(await readFile(path), expected)).toBe(0);
        }
      }),
      { numRuns: 3 },
    );
  });

  test('may end in zeros, as some file systems leave them', async () => {
    await writeFile(path, `${encodeHeader('r1')}${encodeEntry(finished(1))}{"row":2,"op\0\0\0\0`);
    const journal = await openJournal(path, { runId: 'r1' });
    expect(journal.finishedCount).toBe(1);
    await journal.close();
  });
});

/** Neither a writer nor a reader can open it. */
async function expectRefusal(more: { recorded?: RecordedRun }, code: string, message = /./): Promise<void> {
  const openings = [
    () => openJournal(path, { runId: 'r1', ...more }),
    () => openJournal(path, { runId: 'r1', ...more, readOnly: true }),
  ];
  const refusal = { kind: 'fatal', code, message: expect.stringMatching(message) };
  for (const opening of openings) await expect(opening()).rejects.toMatchObject(refusal);
}

const noHeader = /jsonl does not begin with the header/;

describe('a journal is refused, and left as it is,', () => {
  const good = encodeHeader('r1') + encodeEntry(finished(1));
  test.each<[string, string | Buffer, string, RegExp]>([
    [
      'when a line in it is damaged',
      `${good}{"row":2,"outc\n${encodeEntry(finished(3))}`,
      'JOURNAL_CORRUPT',
      /jsonl:3: .* and "counts" in run\.json, .*called a second time/,
    ],
    ['when a line in it is of an unknown kind', `${good}{"paused":true}\n`, 'JOURNAL_CORRUPT', /jsonl:3: /],
    [
      'when it is not UTF-8',
      Buffer.from(`${good}{"row":2,"outcome":"failed","code":"\xff"}\n`, 'latin1'),
      'JOURNAL_CORRUPT',
      /jsonl:3: this line is not UTF-8/,
    ],
    ['when it belongs to another run', encodeHeader('r2'), 'JOURNAL_OF_OTHER_RUN', /run r2, not of run r1/],
    ['when a later version wrote it', '{"journal":2,"run":"r1"}\n', 'JOURNAL_VERSION', /version 2/],
    ['when it is some other file', 'evaluation_id\n17\n', 'JOURNAL_CORRUPT', noHeader],
    ['when it contains zeros', Buffer.alloc(4_096), 'JOURNAL_CORRUPT', noHeader],
    ['when its header is incomplete', '{"journal":1,"ru', 'JOURNAL_CORRUPT', noHeader],
  ])('%s', async (_claim, content, code, message) => {
    await writeFile(path, content);
    await expectRefusal({}, code, message);
    expect(Buffer.compare(await readFile(path), Buffer.from(content))).toBe(0);
  });

  test.each<[string, string, RegExp]>([
    [
      'is empty',
      '',
      /jsonl is empty\. .* restore it from a backup, or remove the folder \S+cqbatch-test-\w+ and/,
    ],
    [
      'has fewer results than its record says',
      good,
      /jsonl has lost lines: it has 1 finished rows, but run\.json has 2/,
    ],
    [
      'has a row that does not exist',
      good + encodeEntry(finished(6)),
      /jsonl:3: there is no row 6: rows\.jsonl has 5/,
    ],
    [
      'has a fed row that does not exist',
      good + encodeEntry({ type: 'fed', first: 5, last: Number.MAX_SAFE_INTEGER, batch: 'b' }),
      /jsonl:3: there is no row 9007199254740991: rows\.jsonl has 5/,
    ],
  ])('when the journal of a started run %s', async (_claim, content, message) => {
    await writeFile(path, content);
    const finishedRows = content === good ? 2 : 0;
    await expectRefusal({ recorded: { rows: 5, finished: finishedRows } }, 'JOURNAL_CORRUPT', message);
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  test('when it is missing although the run has started', async () => {
    await expectRefusal({ recorded }, 'JOURNAL_MISSING');
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('when it cannot be opened', async () => {
    path = dirname(path);
    await expectRefusal({}, 'JOURNAL_UNREADABLE');
  });
});
