import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred } from '../../../src/base/async/waiting.ts';
import { noHistory } from '../../../src/domain/attempts.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import { ClaimedBatch } from '../../../src/engine/queue/claimed-batch.ts';
import { Ledger } from '../../../src/engine/queue/ledger/ledger.ts';
import type { LedgerLog } from '../../../src/engine/queue/ledger/ledger-writer.ts';
import { decodeLedgerEntry, type RowCall } from '../../../src/engine/queue/payload.ts';
import { linesOf } from './tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const task: RowCall = {
  run: 'r',
  row: 1,
  operation: 'o',
  subject: '1',
  path: '/o',
  body: '{}',
};
const twoTasks = [task, { ...task, row: 2 }];

/** Rows that a worker has claimed, with this log as their ledger. */
function claimedBatch(
  tasks: readonly RowCall[],
  log: LedgerLog,
  claim = 1,
  hasEntries = false,
): ClaimedBatch {
  return new ClaimedBatch({
    batch: { run: 'r', tasks, policy: { attempts: 5, backoffMs: 0 } },
    claim,
    hasEntries,
    log,
    isLocked: () => true,
    onReady() {},
    onError: (error) => expect.unreachable(error.message),
  });
}

test('a row with an intent that was not called is neither unclear nor counted when its worker dies', async () => {
  const log: string[] = [];
  const batch = claimedBatch([task], {
    append: async (text) => log.push(text),
    read: async (first) => log.slice(first),
  });
  await batch.begin();
  const ready = batch.take();
  expect(await ready?.claim.intend()).toBe(true);
  expect(ready?.claim.isWanted()).toBe(true);
  if (ready !== undefined) batch.settle(ready, { kind: 'returned', history: noHistory });
  await vi.advanceTimersByTimeAsync(1_000);
  // The worker dies without a last entry.
  const ledger = new Ledger([task]);
  for (const text of log) ledger.apply(decodeLedgerEntry(text));
  ledger.doubtIntended();
  expect(ledger.unfinishedRows()).toEqual([{ row: 1, attemptsUsed: 0, delayMs: 0 }]);
  batch.handBack();
  expect(ready?.claim.isWanted()).toBe(false);
  expect(batch.close()).toEqual({ results: [], unfinishedRows: [{ row: 1, attemptsUsed: 0, delayMs: 0 }] });
});

async function twoRowsInHand() {
  const batch = claimedBatch(twoTasks, { append: async () => 1, read: async () => [] });
  await batch.begin();
  const [first, other] = [batch.take(), batch.take()];
  if (first === undefined || other === undefined) throw new Error('there are two rows');
  return { batch, first, other };
}

test('a row that the API has refused for hours is due soon, because a user may end that wait', async () => {
  const { batch, first, other } = await twoRowsInHand();
  batch.settle(first, { kind: 'throttled', history: noHistory, waitMs: 7_200_000 });
  batch.settle(other, { kind: 'throttled', history: noHistory, waitMs: 7_000 });
  await batch.done;
  expect(batch.close().unfinishedRows).toMatchObject([
    { row: 1, delayMs: 10_000 },
    { row: 2, delayMs: 7_000 },
  ]);
});

test('a row with a long wait is due when that is over, however long the other rows of its batch take', async () => {
  const { batch, first, other } = await twoRowsInHand();
  batch.settle(first, { kind: 'retry', history: noHistory, delayMs: 50_000 });
  await vi.advanceTimersByTimeAsync(40_000);
  batch.settle(other, { kind: 'retry', history: noHistory, delayMs: 6_000 });
  await batch.done;
  expect(batch.close().unfinishedRows).toMatchObject([
    { row: 1, delayMs: 10_000 },
    { row: 2, delayMs: 6_000 },
  ]);
});

test('a batch that is handed back during a takeover returns everything in its ledger', async () => {
  const log: string[] = [];
  const mayRead = deferred();
  const ledger: LedgerLog = {
    append: async (text) => log.push(text),
    async read(first) {
      await mayRead.promise;
      return log.slice(first);
    },
  };
  const first = claimedBatch(twoTasks, ledger);
  await first.begin();
  const [done, called] = [first.take(), first.take()];
  for (const ready of [done, called]) expect(await ready?.claim.intend()).toBe(true);
  const result: RowResult = {
    row: 1,
    operation: 'o',
    outcome: 'succeeded',
    code: 'OK',
    message: '',
    attempts: 1,
    unclear: false,
  };
  if (done !== undefined) first.settle(done, { kind: 'finished', result });
  await vi.advanceTimersByTimeAsync(1_000);
  // The worker is gone; the next one is told to stop before it has read that worker's entries.
  const second = claimedBatch(twoTasks, ledger, 2);
  const beginning = second.begin();
  second.handBack();
  mayRead.resolve();
  await beginning;
  await second.done;
  expect(second.close()).toMatchObject({
    results: linesOf(result),
    unfinishedRows: [{ row: 2, history: { attempts: 1, unclear: true } }],
  });
});

test('after an answer for another entry, no other row of the batch is called, and the batch completes', async () => {
  const { batch, first, other } = await twoRowsInHand();
  const result: RowResult = {
    ...{
      row: 1,
      operation: 'o',
      outcome: 'failed',
      code: 'ANSWER_ID_MISMATCH',
      message: '',
      attempts: 1,
      unclear: true,
    },
  };
  batch.settle(first, { kind: 'finished', result });
  expect(other.claim.isWanted()).toBe(false);
  batch.settle(other, { kind: 'returned', history: noHistory });
  await batch.done;
  expect(batch.close()).toMatchObject({ results: linesOf(result), unfinishedRows: [{ row: 2 }] });
});

test('a batch whose ledger has lost the entries of its worker is handed back: the journal may have results of its rows', async () => {
  const log: string[] = [];
  const ledger: LedgerLog = {
    append: async (text) => log.push(text),
    read: async (first) => log.slice(first),
  };
  const batch = claimedBatch(twoTasks, ledger, 2, true);
  await batch.begin();
  expect(batch.take()).toBeUndefined();
  await batch.done;
  expect(batch.close()).toMatchObject({
    results: [],
    unfinishedRows: [
      { row: 1, history: { attempts: 1, unclear: true } },
      { row: 2, history: { attempts: 1, unclear: true } },
    ],
  });
});
