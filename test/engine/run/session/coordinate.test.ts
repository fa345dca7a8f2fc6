import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { RunRecord, RunState } from '../../../../src/engine/run/record/record.ts';
import type { RunStore } from '../../../../src/engine/run/record/store.ts';
import { coordinateRuns } from '../../../../src/engine/run/session/coordinate.ts';
import { plannedRecord } from '../planned-record.ts';

test('ended runs are read every half minute, the others four times a second', async () => {
  vi.useFakeTimers();
  const states = ['completed', 'cancelled', 'halted', 'interrupted'] as const satisfies readonly RunState[];
  const records: readonly RunRecord[] = states.map((state) => ({ ...plannedRecord, id: state, state }));
  const looks: string[][] = [];
  const list: RunStore['list'] = async (_onUnreadable, but) => {
    const found = records.filter(({ id }) => !but?.has(id));
    looks.push(found.map(({ id }) => id));
    return found;
  };
  const stopped = new AbortController();
  const work = coordinateRuns({
    store: { list } as RunStore,
    datastore: { exclusive: true } as never,
    queue: undefined,
    version: '1',
    log: pino({ enabled: false }),
    stop: stopped.signal,
  });
  await vi.advanceTimersByTimeAsync(30_000);
  stopped.abort();
  await work;
  vi.useRealTimers();
  const all = looks.filter((ids) => ids.length === states.length);
  expect([looks.length, all.length]).toEqual([121, 2]);
  expect(looks[1]).toEqual(['halted', 'interrupted']);
});
