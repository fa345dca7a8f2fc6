import { expect, test } from 'vitest';
import { type AttemptHistory, noHistory } from '../../../src/domain/terms.ts';
import type { Journal } from '../../../src/engine/journal/journal.ts';
import {
  joinResults,
  unfinishedResult,
  type WhyUnfinished,
} from '../../../src/engine/report/join-results.ts';
import type { PlannedRow } from '../../../src/engine/rows/row.ts';
import { callableRow, invalidRow, leftOutRow, restoreEvaluation } from '../../helpers/planned-row.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { emptyRun, inChunks } from './reporting.ts';

async function joined(journal: Journal, rows: readonly PlannedRow[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const part of joinResults({
    rows: inChunks(rows, 2),
    journal,
    unfinished: 'interrupted',
    runKey: 'k',
  })) {
    for (const { row, result } of part) {
      const { operation, outcome, code } = result;
      lines.push(`${row.row} ${result.row} ${operation} ${outcome} ${code}`);
    }
  }
  return lines;
}

const updateSoundboard = { ...restoreEvaluation, name: 'update-soundboard' };

test('every row has its result or a placeholder', async () => {
  const { journal } = await emptyRun();
  await journal.append([3, 1, 5].map((row) => ({ type: 'row', result: resultOf(row, { code: `C${row}` }) })));
  const rows = [1, 2, 3, 4, 5].map((row) => callableRow(row, [], { operation: updateSoundboard }));
  expect(await joined(journal, rows)).toEqual([
    '1 1 restore-evaluation succeeded C1',
    '2 2 update-soundboard not_attempted INTERRUPTED',
    '3 3 restore-evaluation succeeded C3',
    '4 4 update-soundboard not_attempted INTERRUPTED',
    '5 5 restore-evaluation succeeded C5',
  ]);
});

test('results are found by the place of a row, and shown with its number', async () => {
  const { journal } = await emptyRun();
  await journal.append([
    { type: 'row', result: resultOf(1) },
    { type: 'open', row: 2, history: { ...noHistory, attempts: 1 } },
    { type: 'fed', first: 3, last: 3 },
  ]);
  const rows = [2, 3, 9, 10].map((row, index) => callableRow(row, [], { place: index + 1 }));
  expect(await joined(journal, rows)).toEqual([
    '2 2 restore-evaluation succeeded OK',
    '3 3 restore-evaluation failed INTERRUPTED',
    '9 9 restore-evaluation not_attempted PENDING',
    '10 10 restore-evaluation not_attempted INTERRUPTED',
  ]);
});

test('a row that the plan has decided needs no result in the journal', async () => {
  const { journal } = await emptyRun();
  const rows = [
    invalidRow(1),
    invalidRow(2, [], { operation: restoreEvaluation }),
    leftOutRow(3, { why: 'duplicate', of: 8 }),
    leftOutRow(4, { why: 'superseded', by: 9 }),
    leftOutRow(5, { why: 'done', before: { source: 'report.csv', row: 6 } }),
    callableRow(6),
  ];
  expect(await joined(journal, rows)).toEqual([
    '1 1  invalid INVALID_ROW',
    '2 2 restore-evaluation invalid INVALID_ROW',
    '3 3 restore-evaluation duplicate DUPLICATE',
    '4 4 restore-evaluation skipped SUPERSEDED',
    '5 5 restore-evaluation skipped DONE_BEFORE',
    '6 6 restore-evaluation not_attempted INTERRUPTED',
  ]);
});

const tried: AttemptHistory = {
  attempts: 3,
  unprocessed: 1,
  unclear: false,
  startedAt: '2026-01-01T00:00:00.000Z',
  lastCode: 'UNAVAILABLE',
  lastMessage: 'try later',
  lastStatus: 503,
};

interface Case {
  readonly claim: string;
  readonly unfinished: WhyUnfinished;
  readonly history?: AttemptHistory;
  readonly unsettled?: boolean;
  readonly expected: object;
}

const cases: readonly Case[] = [
  {
    claim: 'a row that the going run has not come to is pending',
    unfinished: 'pending',
    expected: {
      outcome: 'not_attempted',
      code: 'PENDING',
      message: 'not finished yet',
      attempts: 0,
      unclear: false,
    },
  },
  {
    claim: 'a row at work in the going run is pending',
    unfinished: 'pending',
    unsettled: true,
    expected: { outcome: 'not_attempted', code: 'PENDING', message: 'not finished yet', unclear: false },
  },
  {
    claim: 'a row that waits for its next attempt is pending, with what its attempts did',
    unfinished: 'pending',
    history: { ...tried, unclear: true },
    expected: {
      outcome: 'not_attempted',
      code: 'PENDING',
      message:
        'not finished yet; the last attempt failed with UNAVAILABLE: try later; the row may have been processed',
      attempts: 3,
      unclear: true,
      httpStatus: 503,
      startedAt: '2026-01-01T00:00:00.000Z',
    },
  },
  {
    claim: 'a row that was never sent is not attempted after an interruption',
    unfinished: 'interrupted',
    expected: {
      outcome: 'not_attempted',
      code: 'INTERRUPTED',
      message: 'the run was interrupted',
      attempts: 0,
    },
  },
  {
    claim: 'a row that was never sent is not attempted after a cancellation',
    unfinished: 'cancelled',
    history: noHistory,
    expected: {
      outcome: 'not_attempted',
      code: 'CANCELLED',
      message: 'the run was cancelled',
      unclear: false,
    },
  },
  {
    claim: 'a row that was only put off is not attempted',
    unfinished: 'halted',
    history: { attempts: 2, unprocessed: 2, unclear: false, lastCode: 'RESOURCE_EXHAUSTED', lastStatus: 429 },
    expected: {
      outcome: 'not_attempted',
      code: 'HALTED',
      message: 'the run was halted; the last attempt failed with RESOURCE_EXHAUSTED',
      attempts: 2,
      httpStatus: 429,
    },
  },
  {
    claim: 'a row with an attempt that failed is failed',
    unfinished: 'halted',
    history: tried,
    expected: {
      outcome: 'failed',
      code: 'HALTED',
      message: 'the run was halted; the last attempt failed with UNAVAILABLE: try later',
      attempts: 3,
      unclear: false,
      httpStatus: 503,
    },
  },
  {
    claim: 'a row with an unclear attempt is failed and unclear',
    unfinished: 'cancelled',
    history: { ...noHistory, unclear: true },
    expected: {
      outcome: 'failed',
      code: 'CANCELLED',
      message: 'the run was cancelled; the row may have been processed',
      unclear: true,
    },
  },
  {
    claim: 'a row that the datastore holds when the process died is pending: the journal cannot know more',
    unfinished: 'interrupted',
    unsettled: true,
    expected: {
      outcome: 'not_attempted',
      code: 'PENDING',
      message: 'the run was interrupted; resuming it finds out whether this row was called',
      attempts: 0,
      unclear: false,
    },
  },
  {
    claim: 'a row that was fed again after an unclear attempt stays unclear',
    unfinished: 'halted',
    history: { ...tried, unclear: true },
    unsettled: true,
    expected: { outcome: 'not_attempted', code: 'PENDING', attempts: 3, unclear: true },
  },
];

test.each(cases)('$claim', ({ unfinished, history, unsettled = false, expected }) => {
  const result = unfinishedResult(unfinished, {
    row: 7,
    operation: 'restore-evaluation',
    history,
    unsettled,
  });
  expect(result).toMatchObject({ row: 7, operation: 'restore-evaluation', ...expected });
});
