import { expect, test } from 'vitest';
import { noHistory } from '../../../src/domain/attempts.ts';
import type { AttemptHistory } from '../../../src/domain/row-result.ts';
import type { Journal } from '../../../src/engine/journal/journal.ts';
import {
  joinResults,
  type RowWithoutResult,
  unfinishedResult,
  type WhyUnfinished,
} from '../../../src/engine/report/join-results.ts';
import type { PlannedRow } from '../../../src/engine/rows/row.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { resultOf } from '../journal/arbitraries.ts';
import { emptyRun, inChunks } from './reporting.ts';

async function joined(journal: Journal, rows: readonly PlannedRow[]): Promise<readonly string[]> {
  const input = { rows: inChunks(rows, 2), journal, unfinished: 'interrupted', runKey: 'k' } as const;
  const lines: string[] = [];
  for await (const part of joinResults(input))
    for (const { row, result } of part)
      lines.push(`${row.row} ${result.row} ${result.operation} ${result.outcome} ${result.code}`);
  return lines;
}

test('results are found by the place of a row, and shown with its number', async () => {
  const { journal } = await emptyRun();
  await journal.append([
    { type: 'row', result: resultOf(1) },
    { type: 'open', row: 2, history: { ...noHistory, attempts: 1 } },
    { type: 'fed', first: 3, last: 3, batch: 'b' },
  ]);
  const rows = [2, 3, 9, 10].map((row, index) => callableRow(row, [], { place: index + 1 }));
  expect(await joined(journal, rows)).toEqual([
    '2 2 restore-evaluation succeeded OK',
    '3 3 restore-evaluation failed INTERRUPTED',
    '9 9 restore-evaluation pending PENDING',
    '10 10 restore-evaluation not_attempted INTERRUPTED',
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

const waiting = { ...tried, unclear: true };

type Unfinished = Partial<RowWithoutResult> & { readonly why: WhyUnfinished };

const triedLast = 'the last attempt failed with UNAVAILABLE: try later';
const resuming = 'resuming it finds out whether this row was called';

test.each<[row: string, Unfinished, outcome: string]>([
  [
    'waits for its next attempt',
    { why: 'pending', history: waiting },
    `pending PENDING unclear, attempts: 3; not finished yet; ${triedLast}; the row may have been processed`,
  ],
  [
    'was never sent before an interruption',
    { why: 'interrupted' },
    'not_attempted INTERRUPTED, attempts: 0; the run was interrupted',
  ],
  [
    'had an attempt that failed',
    { why: 'halted', history: tried },
    `failed HALTED, attempts: 3; the run was halted; ${triedLast}`,
  ],
  [
    'had an unclear attempt',
    { why: 'cancelled', history: { ...noHistory, unclear: true } },
    'failed CANCELLED unclear, attempts: 0; the run was cancelled; the row may have been processed',
  ],
  ['was left when the run gave up', { why: 'gave up' }, 'not_attempted HALTED, attempts: 0; the run gave up'],
  [
    'is in the datastore when the process dies',
    { why: 'interrupted', isUnsettled: true },
    `pending PENDING, attempts: 0; the run was interrupted; ${resuming}`,
  ],
  [
    'is fed again after an unclear attempt',
    { why: 'halted', history: waiting, isUnsettled: true },
    `pending PENDING unclear, attempts: 3; the run was halted; ${resuming}; ${triedLast}; the row may have been processed`,
  ],
])('the result of a row that %s', (_row, { why, history, isUnsettled = false }, outcome) => {
  const row = { row: 7, operation: 'restore-evaluation' };
  const result = unfinishedResult(why, { ...row, history, isUnsettled });
  const state = `${result.outcome} ${result.code}${result.unclear ? ' unclear' : ''}`;
  expect(`${state}, attempts: ${result.attempts}; ${result.message}`).toBe(outcome);
  expect(result).toMatchObject(row);
  expect([result.httpStatus, result.startedAt]).toEqual([history?.lastStatus, history?.startedAt]);
});
