import { expect, test } from 'vitest';
import { LatencyOverTime } from '../../../../src/engine/report/html/latency-series.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

test('each stretch has its percentiles, to a tenth; one without calls has none', () => {
  const latency = new LatencyOverTime();
  for (let call = 1; call <= 100; call += 1)
    latency.add(start + call, call <= 50 ? 20 : call <= 95 ? 100 : 2_000, call > 97);
  latency.add(start + 2_500, 300, true);
  const { from, stretchMs, p50, p90, p99, failed } = latency.series();
  expect([from, stretchMs]).toEqual([start, 1_000]);
  expect(failed).toEqual([3, 0, 1]);
  const near = (value: number | null | undefined, wanted: number) => {
    expect(value).toBeGreaterThanOrEqual(wanted);
    expect(value).toBeLessThanOrEqual(wanted * 1.11);
  };
  near(p50[0], 20);
  near(p90[0], 100);
  near(p99[0], 2_000);
  expect([p50[1], p90[1], p99[1]]).toEqual([null, null, null]);
  near(p50[2], 300);
});

test('a long run has longer stretches that include every call', () => {
  const latency = new LatencyOverTime();
  for (let minute = 0; minute < 24 * 60; minute += 1)
    latency.add(start + minute * 60_000, minute < 720 ? 10 : 1_000, minute % 100 === 0);
  const { stretchMs, p50, failed } = latency.series();
  expect(failed.reduce((sum, rows) => sum + rows)).toBe(15);
  expect(p50.length).toBeLessThanOrEqual(240);
  expect(p50.length * stretchMs).toBeGreaterThanOrEqual(24 * 3_600_000 - stretchMs);
  expect(p50[0]).toBeLessThan(20);
  expect(p50.at(-1)).toBeGreaterThan(900);
});
