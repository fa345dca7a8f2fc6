import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { joinResults } from '../../src/report/join-results.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { inChunks } from './rows.ts';

let folder: string;
let journal: Journal;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cqbatch-report-'));
  journal = await openJournal(join(folder, 'journal.jsonl'), { runId: 'r1' });
});

afterEach(async () => {
  await journal.close();
  await rm(folder, { recursive: true });
});

async function joined(rowNumbers: readonly number[]): Promise<readonly string[]> {
  const rows = rowNumbers.map((row) => ({ row, line: row + 1, cells: {} }));
  const lines: string[] = [];
  for await (const part of joinResults({
    rows: inChunks(rows, 2),
    journal,
    unfinished: 'interrupted',
    operationOf: () => 'update-soundboard',
  })) {
    lines.push(
      ...part.map(({ row, result }) => `${row.row} ${result.row} ${result.operation} ${result.code}`),
    );
  }
  return lines;
}

test('every row has its result, or what stands for one', async () => {
  await journal.append([3, 1, 5].map((row) => ({ type: 'row', result: resultOf(row, { code: `C${row}` }) })));
  expect(await joined([1, 2, 3, 4, 5])).toEqual([
    '1 1 restore-evaluation C1',
    '2 2 update-soundboard INTERRUPTED',
    '3 3 restore-evaluation C3',
    '4 4 update-soundboard INTERRUPTED',
    '5 5 restore-evaluation C5',
  ]);
});

test.each([
  ['ends before a row that has a result', [1, 2], /result of row 3, the manifest ends with row 2/],
  ['is empty though there are results', [], /ends with row 0/],
  ['lacks a row', [1, 3], /row 2 of the manifest is numbered 3/],
  ['has a row twice', [1, 1, 2, 3], /row 2 of the manifest is numbered 1/],
  ['does not begin with row 1', [2, 3], /row 1 of the manifest is numbered 2/],
])('a manifest that %s is refused', async (_claim, rows, message) => {
  await journal.append([{ type: 'row', result: resultOf(3) }]);
  await expect(joined(rows)).rejects.toMatchObject({
    kind: 'fatal',
    code: 'REPORT_INCOMPLETE',
    message: expect.stringMatching(message),
  });
});
