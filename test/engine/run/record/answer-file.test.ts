import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { SavedAnswer } from '../../../../src/domain/terms.ts';
import { answerFile, readAnswers } from '../../../../src/engine/run/record/answer-file.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { callable } from '../../rows/decided-rows.ts';
import { writeRows } from '../../rows/written-rows.ts';

const answer = (row: number, second: number, body = 'ok'): SavedAnswer => ({
  row,
  at: `2026-01-01T00:00:0${second}.000Z`,
  status: 200,
  headers: { date: 'today' },
  body,
});

/** The folder of a run of rows with these numbers in the user's manifest. */
async function runFolder(numbers = Array.from({ length: 11 }, (_, index) => index + 1)): Promise<string> {
  const folder = await temporaryFolder();
  await writeRows(
    join(folder, 'rows.jsonl'),
    numbers.map((row) => ({ ...callable, row })),
  );
  return folder;
}

test('each session has its own file, for its owner only, in which each write is a whole gzip member', async () => {
  const folder = await runFolder();
  for (const second of [1, 2]) {
    const file = answerFile(folder);
    await Promise.all([file.write([answer(1, second)]), file.write([answer(11, second), answer(2, second)])]);
    await file.close();
  }
  expect((await readdir(folder)).toSorted()).toEqual([
    ...['responses-1.jsonl.gz', 'responses-2.jsonl.gz', 'rows.jsonl'],
  ]);
  const path = join(folder, 'responses-1.jsonl.gz');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const lines = gunzipSync(await readFile(path))
    .toString()
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([answer(1, 1), answer(11, 1), answer(2, 1)]);
  expect(await readAnswers(folder, 1)).toEqual([answer(1, 1), answer(1, 2)]);
});

test('a write torn by a kill spoils nothing before it, and duplicates are reported once', async () => {
  const folder = await runFolder();
  const file = answerFile(folder);
  await file.write([answer(7, 1), answer(7, 2)]);
  await file.close();
  const member = gzipSync(`${JSON.stringify(answer(7, 3, 'x'.repeat(1_000)))}\n`);
  await appendFile(join(folder, 'responses-1.jsonl.gz'), member.subarray(0, member.length / 2));
  const second = answerFile(folder);
  await second.write([answer(7, 2), answer(7, 4)]);
  await second.close();
  expect((await readAnswers(folder, 7)).map(({ at }) => at)).toEqual(
    [answer(7, 1), answer(7, 2), answer(7, 4)].map(({ at }) => at),
  );
});

test('any text of an answer stays on its line, and rows have the user’s numbers', async () => {
  const folder = await runFolder([7, 42]);
  const file = answerFile(folder);
  const body = 'a\nb\r\u2028\u2029\u0085\u0000"\ud800';
  await file.write([answer(2, 1, body)]);
  await file.close();
  expect(await readAnswers(folder, 42)).toEqual([answer(42, 1, body)]);
  expect(await readAnswers(folder, 2)).toEqual([]);
});

test('a write that fails says why, and leaves nothing for the end to say', async () => {
  const folder = await temporaryFolder();
  const file = answerFile(folder);
  await expect(file.write([answer(1, 1)])).rejects.toMatchObject({ code: 'ROWS_MISSING' });
  await file.close();
  expect(await readAnswers(folder, 1)).toEqual([]);
});
