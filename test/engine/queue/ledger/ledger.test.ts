import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deferred } from '../../../../src/base/async/waiting.ts';
import { noHistory, perhapsCalled } from '../../../../src/domain/attempts.ts';
import { encodeResult, type ResultLine } from '../../../../src/engine/journal/line.ts';
import { Ledger } from '../../../../src/engine/queue/ledger/ledger.ts';
import { type LedgerLog, LedgerWriter } from '../../../../src/engine/queue/ledger/ledger-writer.ts';
import {
  decodeLedgerEntry,
  encodeLedgerEntry,
  type LedgerEntry,
} from '../../../../src/engine/queue/payload.ts';
import { resultsOf } from '../tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const rows = [1, 2, 3].map((row) => ({ row }));
const history = { attempts: 1, unprocessed: 0, unclear: false };
const done = { operation: 'o', outcome: 'succeeded', code: 'OK', message: '' } as const;
const result = (row: number, attempts = 1, unclear = false): ResultLine =>
  encodeResult({ row, ...done, attempts, unclear });

function read(...entries: readonly LedgerEntry[]): Ledger {
  const ledger = new Ledger(rows);
  for (const entry of entries) ledger.apply(entry);
  return ledger;
}

const work = (claim: number, parts: Omit<LedgerEntry & { type: 'work' }, 'type' | 'claim'>): LedgerEntry => ({
  type: 'work',
  claim,
  ...parts,
});
const left = (ledger: Ledger) => ledger.unfinishedRows().map(({ row, history: known }) => [row, known]);

describe('a ledger', () => {
  test('distinguishes finished rows, rows that were perhaps called, and rows that were never called', () => {
    const ledger = read(work(1, { intents: [1, 2] }), work(1, { results: [result(1)] }));
    ledger.doubtIntended();
    expect(ledger.results()).toEqual([result(1)]);
    expect(left(ledger)).toEqual([
      [2, perhapsCalled(noHistory)],
      [3, undefined],
    ]);
  });

  test('counts a call that may have been made in addition to known calls', () => {
    const ledger = read(
      work(1, { intents: [1] }),
      work(1, { unfinished: [{ row: 1, history, attemptsUsed: 1 }], intents: [1] }),
      { type: 'begin', claim: 2 },
    );
    expect(ledger.unfinishedRows()[0]).toEqual({
      row: 1,
      history: perhapsCalled(history),
      attemptsUsed: 1,
      delayMs: 0,
    });
  });

  test('ignores the former worker after a takeover', () => {
    const ledger = read(
      work(1, { intents: [1] }),
      { type: 'begin', claim: 2 },
      work(1, { results: [result(1)], intents: [2] }),
    );
    expect(ledger.results()).toEqual([]);
    expect(left(ledger)).toEqual([
      [1, perhapsCalled(noHistory)],
      [2, undefined],
      [3, undefined],
    ]);
  });

  test('hands on the answers of the former worker, each once', () => {
    const answer = (second: number) => ({
      row: 1,
      at: `2026-01-01T00:00:0${second}.000Z`,
      status: 503,
      headers: {},
      body: '',
    });
    const ledger = read(work(1, { answers: [answer(1)] }), { type: 'begin', claim: 2 });
    ledger.addAnswer(answer(2));
    expect(ledger.takeAnswers()).toEqual([answer(1), answer(2)]);
    expect(ledger.takeAnswers()).toEqual([]);
  });

  test('keeps the first result of a row, and tells it once, though an entry is written twice', () => {
    const ledger = new Ledger(rows);
    const told = [result(1), result(1), result(1, 2)].map((each) =>
      ledger.apply(work(1, { results: [each] })),
    );
    expect(told).toEqual([[result(1)], [], []]);
    expect([ledger.results(), ledger.unfinishedCount]).toEqual([[result(1)], 2]);
  });

  test('says that the batch is withdrawn', () => {
    expect([read().isWithdrawn, read({ type: 'withdraw' }).isWithdrawn]).toEqual([false, true]);
  });

  test('refuses a row that is not in its batch', () => {
    expect(() => read(work(1, { intents: [4] }))).toThrow(TypeError);
  });
});

/** A worker that writes into this ledger. */
function writerOf(log: LedgerLog, claim: number, ledger = new Ledger(rows)): LedgerWriter {
  const onError = (error: Error) => expect.unreachable(error.message);
  return new LedgerWriter({ log, ledger, claim, onEnd() {}, onError });
}

test('a worker that was slow to begin learns of its successor', async () => {
  const log = [encodeLedgerEntry(work(1, { intents: [1] }))];
  const mayRead = deferred();
  const slow: LedgerLog = {
    append: async (text) => log.push(text),
    async read(first) {
      await mayRead.promise;
      return log.slice(first);
    },
  };
  const writer = writerOf(slow, 2);
  const beginning = writer.begin();
  // Meanwhile it looks whether anything was written.
  await vi.advanceTimersByTimeAsync(1_000);
  mayRead.resolve();
  await beginning;
  await vi.advanceTimersByTimeAsync(1);
  log.push(encodeLedgerEntry({ type: 'begin', claim: 3 }));
  expect(await writer.intend(2)).toBe(false);
  writer.close();
});

test.each(['has started', 'has completed the batch'])(
  'a worker whose intent is acknowledged 25 s after it was written calls nothing when another worker %s since',
  async (what) => {
    const log: string[] = [];
    const mayAnswer = deferred();
    let isGone = false;
    const slow: LedgerLog = {
      async append(text) {
        if (isGone) throw new Error('Missing key for job 1. addLog');
        const length = log.push(text);
        if (decodeLedgerEntry(text).type === 'work') await mayAnswer.promise;
        return length;
      },
      read: async (first) => (isGone ? [] : log.slice(first)),
    };
    const writer = writerOf(slow, 1);
    await writer.begin();
    const mayCall = writer.intend(2);
    await vi.advanceTimersByTimeAsync(25_000);
    log.push(encodeLedgerEntry({ type: 'begin', claim: 2 }));
    isGone = what === 'has completed the batch';
    mayAnswer.resolve();
    expect(await mayCall).toBe(false);
    writer.close();
  },
);

/** One thing that happens to a batch: a worker claims it, works on a row of it, freezes or continues, or dies. */
type Step =
  | { readonly kind: 'claim' }
  | { readonly kind: 'call' | 'answer' | 'fail'; readonly worker: number; readonly row: number }
  | { readonly kind: 'die'; readonly worker: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constant({ kind: 'claim' as const }),
  fc.record({
    kind: fc.constantFrom('call' as const, 'answer' as const, 'fail' as const),
    worker: fc.nat({ max: 3 }),
    row: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant('die' as const), worker: fc.nat({ max: 3 }) }),
);

test('whether workers work, freeze or die: each row has one result, and a row that was called twice is unclear', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const log: string[] = [];
      const calls = new Map<number, number>(rows.map(({ row }) => [row, 0]));
      const workers: Awaited<ReturnType<typeof claim>>[] = [];
      for (const step of steps) {
        if (step.kind === 'claim') workers.push(await claim(workers.length + 1, log));
        else {
          const worker = workers[step.worker];
          if (worker === undefined) continue;
          if (step.kind === 'die') worker.die();
          if (step.kind === 'call' && (await worker.call(step.row)))
            calls.set(step.row, (calls.get(step.row) ?? 0) + 1);
          if (step.kind === 'answer') worker.answer(step.row, true);
          if (step.kind === 'fail') worker.answer(step.row, false);
          await worker.written();
        }
      }
      const last = await claim(workers.length + 1, log);
      for (const { row } of rows) {
        if (await last.call(row)) {
          calls.set(row, (calls.get(row) ?? 0) + 1);
          last.answer(row, true);
        }
      }
      await last.written();
      last.die();
      const ledger = new Ledger(rows);
      for (const text of log) ledger.apply(decodeLedgerEntry(text));
      expect(ledger.unfinishedRows()).toEqual([]);
      for (const { row, attempts, unclear } of resultsOf(ledger.results())) {
        const made = calls.get(row) ?? 0;
        // No call is missing from the count. A counted call may not have been made: its row is then unclear.
        expect(attempts).toBeGreaterThanOrEqual(made);
        expect(unclear || attempts === made).toBe(true);
      }
    }),
  );
});

/** A worker that claims the batch with this log as its ledger. */
async function claim(number: number, log: string[]) {
  const ledger = new Ledger(rows);
  let isDead = false;
  const shared = {
    append: async (text: string) => log.push(text),
    read: async (first: number) => log.slice(first),
  };
  const writer = writerOf(shared, number, ledger);
  if (number > 1) await writer.begin();
  const inFlight = new Set<number>();
  const known = (row: number) =>
    ledger.unfinishedRows().find((unfinishedRow) => unfinishedRow.row === row)?.history ?? noHistory;
  return {
    die() {
      isDead = true;
      writer.close();
    },
    async call(row: number): Promise<boolean> {
      const isDone = ledger.results().some((done) => done.row === row);
      if (isDead || isDone || inFlight.has(row)) return false;
      if (!(await writer.intend(row))) return false;
      inFlight.add(row);
      return true;
    },
    answer(row: number, isGood: boolean): void {
      if (isDead || !inFlight.delete(row)) return;
      const { attempts, unclear } = known(row);
      if (isGood) writer.addResult(result(row, attempts + 1, unclear));
      else
        writer.addProgress({
          row,
          history: { attempts: attempts + 1, unprocessed: 0, unclear },
          attemptsUsed: attempts + 1,
        });
    },
    /** Entries are written after a while, or with the next intent. */
    written: () => vi.advanceTimersByTimeAsync(20),
  };
}
