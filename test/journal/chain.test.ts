import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { prevOf } from '../../src/journal/chain.ts';
import { encodeEntry, encodeHeader } from '../../src/journal/line.ts';
import { openJournal } from '../../src/journal/open.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { anyEntry, finished } from './arbitraries.ts';

let path: string;

beforeEach(async () => {
  path = join(await temporaryFolder(), 'journal.jsonl');
});

/** @param before lines of a version without a chain */
async function written(before = ''): Promise<Buffer> {
  await writeFile(path, encodeHeader('r1') + before);
  const journal = await openJournal(path, { runId: 'r1' });
  await journal.append([{ type: 'fed', first: 1, last: 6 }]);
  await journal.append([finished(1), finished(2), finished(3)]);
  await journal.append([finished(4), finished(5)]);
  await journal.append([{ type: 'settled' }]);
  await journal.close();
  return readFile(path);
}

/** @throws when the file is not as it was written */
async function check(content: string | Buffer): Promise<void> {
  await writeFile(path, content);
  const journal = await openJournal(path, { runId: 'r1', readOnly: true, checked: true });
  await journal.close();
}

test('the digest of a line is its last key, whatever its texts and columns contain', () => {
  const digest = 'a'.repeat(64);
  fc.assert(
    fc.property(anyEntry(), (entry) => {
      expect(prevOf(encodeEntry(entry).trimEnd())).toBeUndefined();
      expect(prevOf(encodeEntry(entry, digest).trimEnd())).toBe(digest);
    }),
  );
  for (const length of [62, 63, 64, 65]) {
    const imitation = `,"prev":"${'b'.repeat(length)}`;
    const result = { ...finished(1).result, message: imitation, columns: { a: imitation, prev: imitation } };
    expect(prevOf(encodeEntry({ type: 'row', result }).trimEnd())).toBeUndefined();
  }
});

describe('a journal that was changed is refused:', () => {
  test('every changed byte before its last write', async () => {
    const content = await written();
    const last = content.lastIndexOf('\n', content.length - 2) + 1;
    await check(content);
    for (let position = 0; position < last; position++) {
      const changed = Buffer.from(content);
      changed.writeUInt8(content.readUInt8(position) ^ (1 << (position % 8)), position);
      await expect(check(changed), `byte ${position}`).rejects.toMatchObject({ kind: 'fatal' });
    }
  });

  test('every line that was cut, doubled or swapped before its last write', async () => {
    const lines = (await written()).toString().split(/(?<=\n)/);
    const end = lines.length - 1;
    for (let one = 0; one < end; one++) {
      await expect(check(lines.toSpliced(one, 1).join('')), `without ${one}`).rejects.toThrow();
      await expect(
        check(lines.toSpliced(one, 0, lines[one] ?? '').join('')),
        `${one} twice`,
      ).rejects.toThrow();
      for (let other = one + 1; other <= end; other++) {
        const swapped = lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '');
        await expect(check(swapped.join('')), `${one} and ${other}`).rejects.toThrow();
      }
    }
  });

  test('for writing, with the lines that may be wrong', async () => {
    const content = (await written()).toString();
    await writeFile(path, content.replace('"row":2', '"row":6'));
    await expect(openJournal(path, { runId: 'r1' })).rejects.toMatchObject({
      code: 'JOURNAL_CORRUPT',
      message: expect.stringMatching(/jsonl:3: one of the lines 3 to 6 was changed/),
    });
  });

  test('in lines of a version without a chain', async () => {
    const content = (await written(encodeEntry(finished(8)))).toString();
    await check(content);
    await expect(check(content.replace('"row":8', '"row":9'))).rejects.toMatchObject({
      message: expect.stringMatching(/jsonl:1: one of the lines 1 to 3 was changed/),
    });
  });
});

test('plain readers do not check, because they may read while it is written', async () => {
  const content = (await written()).toString().replace('"row":2', '"row":6');
  await writeFile(path, content);
  const journal = await openJournal(path, { runId: 'r1', readOnly: true });
  expect(journal.isFinished(6)).toBe(true);
  await journal.close();
});
