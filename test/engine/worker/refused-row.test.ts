import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { ApiAnswer } from '../../../src/engine/api/client.ts';
import { decodeEntry, encodeEntry } from '../../../src/engine/journal/line.ts';
import type { RowCall } from '../../../src/engine/queue/payload.ts';
import { TrafficMeter } from '../../../src/engine/rate/traffic-meter.ts';
import { CircuitBreaker } from '../../../src/engine/worker/breaker/circuit-breaker.ts';
import { RefusedRows } from '../../../src/engine/worker/refused-rows.ts';
import { RetryQuota } from '../../../src/engine/worker/retry-quota.ts';
import { createRowProcessor } from '../../../src/engine/worker/row-processor.ts';
import { Random } from '../../simulation/random.ts';
import { failing, tooMany } from './answers.ts';
import { task as anyRow, claimed } from './claimed.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The same failure for every row would be the API's; these rows are accepted all the same, and not found. */
const accepted = failing({ class: 'permanent', code: 'NOT_FOUND', message: 'no evaluation', status: 404 });
const callMs = 100;
const statedMs = 1_000;
const claim = claimed({ policy: { attempts: 100, backoffMs: 1_000 } });

interface Model {
  readonly rows: number;
  readonly workers?: number;
  /** Whether the API refuses this call of a row. */
  readonly refuses: (row: number, call: number) => boolean;
  readonly statedMs?: number | undefined;
  /** For each second without a call. */
  readonly onWait?: (reason: string) => void;
}

/** Calls rows in modelled time, one after the other, each by the next worker, until all have results. */
async function run({ rows, workers = 1, refuses, statedMs: waitMs, onWait }: Model) {
  const meters: TrafficMeter[] = [];
  let calls = 0;
  const refusedRows = new RefusedRows();
  const startedAt = Date.now();
  const fleet = Array.from({ length: workers }, () => {
    const meter = new TrafficMeter();
    meters.push(meter);
    return createRowProcessor({
      operations,
      client: {
        async send(task): Promise<ApiAnswer> {
          calls += 1;
          await vi.advanceTimersByTimeAsync(callMs);
          return refuses((task as RowCall).row, calls) ? tooMany(waitMs) : accepted;
        },
      },
      gate: { reserve: async () => true, enter: async () => 0, release() {}, noteSent() {}, leave() {} },
      meter,
      breaker: new CircuitBreaker({ onChange() {}, onHalt() {} }),
      refusedRows,
      quota: new RetryQuota(),
      proven: ['restore-evaluation'],
      isGoverned: () => true,
      log: silentLog,
      onEvent() {},
      onHalt() {},
    });
  });
  const results = new Map<number, RowResult>();
  const waiting = Array.from({ length: rows }, (_, index) => {
    const row = index + 1;
    return { dueAt: 0, task: { ...anyRow, subject: `${row}`, row } };
  });
  const { signal } = new AbortController();
  while (waiting.length > 0 && calls < 10_000) {
    const place = waiting.findIndex(({ dueAt }) => dueAt <= Date.now());
    const [next] = waiting.splice(place, place < 0 ? 0 : 1);
    refusedRows.rowsLeft = rows - results.size;
    if (next === undefined) {
      await vi.advanceTimersByTimeAsync(callMs);
      const { wait } = refusedRows;
      if (wait !== undefined) onWait?.(wait.reason);
      continue;
    }
    const { task } = next;
    const processed = fleet[calls % workers]?.(task, claim, signal);
    await vi.advanceTimersByTimeAsync(0);
    const verdict = await processed;
    if (verdict === undefined) throw new Error('there is a worker');
    if (verdict.kind === 'finished') results.set(task.row, verdict.result);
    else {
      // Between workers, a row goes through the journal.
      const line = encodeEntry({ type: 'open', row: task.row, history: verdict.history });
      const entry = decodeEntry(line.trimEnd());
      if (entry?.type !== 'open') throw new Error(line);
      // Where nothing is accepted, the governor tests about once a second.
      const leastMs = onWait === undefined ? 0 : 1_000;
      const delayMs = Math.max(
        leastMs,
        verdict.kind === 'throttled' ? verdict.waitMs : (verdict.delayMs ?? 0),
      );
      waiting.push({ dueAt: Date.now() + delayMs, task: { ...task, history: entry.history } });
    }
  }
  const refused = [...results.values()].filter(({ code }) => code === 'RESOURCE_EXHAUSTED');
  return { calls, results, refused, meters, seconds: (Date.now() - startedAt) / 1_000 };
}

describe('a row that is always refused', () => {
  test.each([
    ['by one worker', 1, undefined],
    ['that says for how long', 1, statedMs],
    ['by several workers, between which it travels', 3, statedMs],
  ])('fails after ten refusals while others are accepted, %s', async (_title, workers, waitMs) => {
    const { results, refused } = await run({
      rows: 300,
      workers,
      refuses: (row) => row === 5,
      statedMs: waitMs,
    });
    expect(results.size).toBe(300);
    expect(refused).toEqual([
      expect.objectContaining({ row: 5, outcome: 'failed', attempts: 10, unprocessed: 10, unclear: false }),
    ]);
    expect(refused[0]?.message).toMatch(
      /^why \(refused 10 times, while at least \d+ other rows were accepted\)$/,
    );
  });

  test('stops slowing down the others after a few refusals', async () => {
    const { meters } = await run({ rows: 300, refuses: (row) => row === 5, statedMs });
    expect(meters[0]?.report()).toMatchObject({ accepted: 299, rejected: 2 });
  });
});

describe('when only rows are left that are always refused', () => {
  const refusesEach = (every: number) => (row: number) => row % every === 0;

  test.each([
    // The last row with 6 accepted ones after it, with none after it, and with many refused ones side by side.
    ['every seventh of 48', 48, refusesEach(7)],
    ['every seventh of 49', 49, refusesEach(7)],
    ['the last five of 48', 48, (row: number) => [5, 10].includes(row) || row > 43],
  ])('they fail within two minutes (%s)', async (_title, rows, refuses) => {
    const reasons: string[] = [];
    const { results, refused, seconds } = await run({
      rows,
      refuses,
      onWait: (reason) => reasons.push(reason),
    });
    expect(results.size).toBe(rows);
    expect(refused).toHaveLength(Array.from({ length: rows }, (_, row) => row + 1).filter(refuses).length);
    expect(seconds).toBeLessThan(120);
    expect(reasons.every((reason) => reason.length < 60)).toBe(true);
    expect(reasons).toContainEqual(
      expect.stringMatching(/^the API refuses the last (row|\d+ rows): \d of 10 times$/),
    );
  });

  test('a row that is refused once others are done is not blamed: a quota may be used up', async () => {
    const isOver = (call: number) => call > 1_000;
    const { refused } = await run({ rows: 48, refuses: (row, call) => row > 40 && !isOver(call) });
    expect(refused).toEqual([]);
  });
});

describe('no row fails because it is refused', () => {
  test('while all are refused for a long time', async () => {
    const { results, refused } = await run({ rows: 60, refuses: (_row, call) => call <= 1_000, statedMs });
    expect([results.size, refused]).toEqual([60, []]);
  });

  test.each([0.1, 0.3, 0.5, 0.7, 0.9])(
    'while calls of any row are refused with probability %d',
    async (probability) => {
      const random = new Random(44);
      const refuses = () => random.chance(probability);
      const { results, refused } = await run({ rows: 600, workers: 2, refuses, statedMs });
      expect([results.size, refused]).toEqual([600, []]);
    },
  );
});
