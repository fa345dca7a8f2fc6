import { expect, test } from 'vitest';
import type { Chart, ChartData } from '../../../../src/pages/browser/chart/chart.ts';
import { chartsOf } from '../../../../src/pages/browser/chart/run-charts.ts';
import { type ChartedRunOptions, chartedRun, secondsLater, started } from '../../../helpers/charted-run.ts';
import { pageOf } from '../../../helpers/page-lines.ts';

const seconds = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

const steadily = (count: number): readonly number[] => seconds(count).map(() => 40);

async function chartsOfRun(options: ChartedRunOptions): Promise<readonly Chart[]> {
  const { lines, facts, stops } = chartedRun(options);
  const { data } = await pageOf([lines], { columns: ['id'], facts, stops });
  return chartsOf(data);
}

async function dataOf(options: ChartedRunOptions): Promise<readonly [rate: ChartData, latency: ChartData]> {
  const [rate, latency] = (await chartsOfRun(options)).map(({ data }) => data);
  if (rate === undefined || latency === undefined) throw new Error('A chart is missing.');
  return [rate, latency];
}

test('both charts have the same ends, though calls began later and ended earlier', async () => {
  const charts = await dataOf({ accepted: steadily(30), calls: seconds(20).map((second) => second + 5) });
  expect(charts.map(({ times }) => [times[0], times.at(-1)])).toEqual([
    [started, started + 30],
    [started, started + 30],
  ]);
});

test.each([
  [9, [false, false], 'Requested rate: auto.'],
  [
    10,
    [true, true],
    'Requested rate: auto. Peak achieved: 40 calls/s. These are calls, not rows: a row may need several.',
  ],
])('a run of %d seconds has lines: %j; without lines, it has no peak', async (count, wanted, rate) => {
  const charts = await chartsOfRun({ accepted: steadily(count) });
  expect(charts.map(({ data }) => data !== undefined)).toEqual(wanted);
  expect(charts.map(({ summary }) => summary)).toEqual([
    rate,
    'Half of the calls took 40 ms or less (p50), 99 of 100 took 40 ms or less (p99). Slowest call: 40 ms.',
  ]);
});

test('a run without calls has no charts', async () => {
  expect(await chartsOfRun({ accepted: [] })).toEqual([]);
});

test('a line without values is left out, and so are rejections if there were none', async () => {
  const [unlimited] = await dataOf({ accepted: steadily(20), allowed: null });
  expect(unlimited.lines.map(({ label }) => label)).toEqual(['achieved']);
  const points = { 3: { rejected: 4 }, 9: { rejected: 6 } };
  const [limited] = await dataOf({ accepted: steadily(20), points });
  expect(limited.lines.map(({ label }) => label)).toEqual(['allowed', 'achieved', 'rejected']);
  expect(limited.lines[2]?.values.filter((calls) => calls !== null)).toEqual([4, 6]);
});

test('a line has a gap where the run was stopped, and both charts have its band', async () => {
  const stops = [{ from: secondsLater(10), to: secondsLater(100), state: 'paused' }];
  const charts = await dataOf({ accepted: steadily(20), stops });
  const [{ times, lines }] = charts;
  const inside = times.findIndex((time) => time > started + 10 && time < started + 100);
  expect(lines.map(({ values }) => values[inside])).toEqual([null, null]);
  for (const { bands } of charts) expect(bands.map(({ reason }) => reason)).toEqual(['the run was paused']);
});

test('failures have a chart of when they happened', async () => {
  const { lines, facts, stops } = chartedRun({ accepted: steadily(20) });
  // The tenth second begins with row 201.
  const failing = lines.map((line) => {
    const { row } = line.result;
    return row > 200 && row <= 206
      ? { ...line, result: { ...line.result, outcome: 'failed' as const } }
      : line;
  });
  const { data } = await pageOf([failing], { columns: ['id'], facts, stops });
  const chart = chartsOf(data).at(-1);
  expect([chart?.title, chart?.summary]).toEqual(['Failures', '6 rows failed. Most at once: 6 rows/s.']);
  const values = chart?.data?.lines[0]?.values ?? [];
  expect(values.filter((rows) => rows !== null && rows > 0)).toEqual([6]);
});

test('of runs that share an API, one has a line of its own calls, and a quiet one of all', async () => {
  const { lines, facts, stops } = chartedRun({ accepted: steadily(20) });
  const { data } = await pageOf([lines], { columns: ['id'], facts, stops });
  const calls = seconds(20).map((second) => (second < 5 ? 12 : 0));
  const [chart] = chartsOf({ ...data, ownCalls: { from: started * 1_000, stretchMs: 1_000, calls } });
  expect(chart?.summary).toBe(
    'Requested rate: auto. Peak achieved: 12 calls/s. These are calls, not rows: a row may need several. Gray: the calls of all runs at this API.',
  );
  const own = chart?.data?.lines.find(({ label }) => label === 'this run');
  expect(own?.values.slice(0, 8)).toEqual([null, 12, 12, 12, 12, 12, 0, 0]);
  expect(own?.overallText).toBe('3 calls/s on average');
  const all = chart?.data?.lines.find(({ label }) => label === 'all runs');
  expect(all?.values.slice(1, 4)).toEqual([40, 40, 40]);
  expect([all?.color, all?.overallText]).toEqual(['--quiet', '40 calls/s on average']);
});
