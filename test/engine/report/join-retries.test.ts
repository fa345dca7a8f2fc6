import { expect, test } from 'vitest';
import { attemptsOf } from '../../../src/domain/attempts.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { ReportLine } from '../../../src/engine/report/join-results.ts';
import { joinRetries } from '../../../src/engine/report/join-retries.ts';
import { callableRow } from '../../helpers/planned-row.ts';

const failed: Omit<RowResult, 'row'> = {
  operation: 'restore-evaluation',
  outcome: 'failed',
  code: 'INTERNAL',
  message: '',
  attempts: 2,
  unclear: true,
  startedAt: '2026-01-01T00:00:00.000Z',
};
const succeeded = { ...failed, outcome: 'succeeded', code: 'OK', attempts: 1, unclear: false } as const;

type Results = Readonly<Record<number, Partial<RowResult>>>;

/** The lines of a run with these row numbers, in chunks of this size. */
async function* linesOf(results: Results, size: number): AsyncGenerator<readonly ReportLine[]> {
  const lines = Object.entries(results).map(([number, result]): ReportLine => {
    const row = Number(number);
    return { row: callableRow(row), result: { ...failed, ...result, row } };
  });
  for (let at = 0; at < lines.length; at += size) yield lines.slice(at, at + size);
}

async function joined(run: Results, retries: readonly Results[], size: number) {
  const lines: ReportLine[] = [];
  const parts = joinRetries(
    linesOf(run, size),
    retries.map((retry) => linesOf(retry, 2)),
  );
  for await (const part of parts) lines.push(...part);
  return lines;
}

test.each([1, 2, 3, 100])(
  'each row has its last state, in the order of the run (parts of %d)',
  async (size) => {
    const run = { 1: succeeded, 2: failed, 3: failed, 4: failed, 5: succeeded, 6: failed };
    const retries = [
      { 2: failed, 3: succeeded, 6: { ...failed, code: 'NOT_FOUND' } },
      { 2: succeeded, 4: { outcome: 'not_attempted', code: 'CANCELLED', attempts: 0 }, 9: failed },
    ] as const;
    const lines = await joined(run, retries, size);
    expect(lines.map(({ row, result }) => [row.row, result.row, result.code, result.attempts])).toEqual([
      [1, 1, 'OK', 1],
      [2, 2, 'OK', 5],
      [3, 3, 'OK', 3],
      [4, 4, 'INTERNAL', 2],
      [5, 5, 'OK', 1],
      [6, 6, 'NOT_FOUND', 4],
    ]);
  },
);

test('a retried row keeps its unclear flag and its first start', async () => {
  const [line] = await joined(
    { 1: failed },
    [{ 1: { ...succeeded, startedAt: '2026-02-01T00:00:00.000Z' } }],
    1,
  );
  expect(line?.result).toMatchObject({ outcome: 'succeeded', unclear: true, startedAt: failed.startedAt });
});

test('the requests of a stopped retry count, and its rows keep their results', async () => {
  const putOff = { outcome: 'not_attempted', code: 'CANCELLED', attempts: 3, unprocessed: 3 } as const;
  const [line] = await joined({ 1: failed }, [{ 1: { ...putOff, unclear: false } }], 1);
  expect(line?.result).toEqual({ ...failed, row: 1, attempts: 5, unprocessed: 3 });
});

test('a retried row has the attempts of both runs, in order', async () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
  const first = { ...failed, attempts: 1, finishedAt: at(1), durationMs: 1_000, httpStatus: 500 };
  const again = { at: at(8), durationMs: 500, code: 'UNAVAILABLE' };
  const last = { startedAt: at(8), finishedAt: at(10), durationMs: 200 };
  const retried = { ...succeeded, ...last, attempts: 2, earlier: [again] };
  const [line] = await joined({ 1: first }, [{ 1: retried }], 1);
  expect(line?.result).toMatchObject({ attempts: 3, startedAt: at(0) });
  expect(attemptsOf(line?.result ?? { ...failed, row: 1 })).toEqual([
    { at: at(0), durationMs: 1_000, code: 'INTERNAL', httpStatus: 500 },
    again,
    { at: '2026-01-01T00:00:09.800Z', durationMs: 200, code: 'OK' },
  ]);
});

test('a row that a retry may have called is not fed back', async () => {
  const cancelled = { outcome: 'not_attempted', code: 'CANCELLED', attempts: 0, unclear: false } as const;
  const [line] = await joined({ 1: cancelled }, [{ 1: { ...cancelled, code: 'PENDING' } }], 1);
  expect(line?.result.code).toBe('PENDING');
});
