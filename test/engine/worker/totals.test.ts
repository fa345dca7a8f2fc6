import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WorkerEvent } from '../../../src/engine/worker/row-processor.ts';
import { logTotals } from '../../../src/engine/worker/totals.ts';
import { resultOf } from '../journal/arbitraries.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('totals are logged every ten seconds in which something happened, and at the end', async () => {
  const lines: Record<string, unknown>[] = [];
  const totals = logTotals(
    pino({ base: null, timestamp: false }, { write: (json) => lines.push(JSON.parse(json)) }),
  );
  const place = { run: 'r', row: 1 };
  const finished = (outcome: 'succeeded' | 'failed'): WorkerEvent => ({
    ...place,
    type: 'finished',
    result: resultOf(1, { outcome }),
  });
  for (let row = 0; row < 20; row++) totals.count(finished('succeeded'));
  totals.count(finished('failed'));
  totals.count({ ...place, type: 'retrying', code: 'HTTP_500', delayMs: 1 });
  totals.count({ ...place, type: 'throttled', waitMs: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toEqual([
    {
      level: 30,
      msg: 'rows',
      succeeded: 20,
      failed: 1,
      retries: 1,
      throttled: 1,
      returned: 0,
      rows_per_s: 2.1,
      finished: 21,
    },
  ]);

  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toHaveLength(1);
  totals.count(finished('succeeded'));
  await totals.stop();
  expect(lines.slice(1)).toMatchObject([{ succeeded: 1, failed: 0, finished: 22 }]);
});
