import { expect, test } from 'vitest';
import { CallsOverTime } from '../../../../src/engine/report/html/own-calls.ts';
import { resultOf } from '../../journal/arbitraries.ts';

const start = Date.parse('2026-01-01T10:00:00Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

test('each accepted call counts when it was made, also the earlier calls of a row', () => {
  const calls = new CallsOverTime();
  calls.add(resultOf(1, { attempts: 1, finishedAt: at(0.5), durationMs: 100 }));
  const earlier = [
    { at: at(1.2), code: 'UNAVAILABLE' },
    { at: at(2.2), code: 'RESOURCE_EXHAUSTED' },
  ];
  calls.add(resultOf(2, { attempts: 3, finishedAt: at(4.5), durationMs: 1_000, earlier }));
  // The plan has decided this row.
  calls.add(resultOf(3, { attempts: 0 }));
  expect(calls.calls()).toEqual({ from: start, stretchMs: 1_000, calls: [1, 1, 0, 1] });
});

test('a long run has longer stretches, and no call is lost', () => {
  const calls = new CallsOverTime();
  for (let second = 0; second < 5_000; second++)
    calls.add(resultOf(second + 1, { attempts: 1, finishedAt: at(second + 0.5), durationMs: 0 }));
  const { stretchMs, calls: counted } = calls.calls();
  expect(stretchMs).toBe(16_000);
  expect(counted.length).toBeLessThanOrEqual(600);
  expect(counted.reduce((sum, each) => sum + each, 0)).toBe(5_000);
});

test('a run without calls has none', () => {
  expect(new CallsOverTime().calls().calls).toEqual([]);
});
