import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { count } from '../../../src/base/text/format.ts';
import { conditions, figures } from '../../engine/rate/governor/simulated.ts';
import { callsOf, mostWithin, perSecond } from '../../engine/rate/simulated-calls.ts';
import { inCode, withTable } from '../../examples/markdown.ts';

const page = readFileSync('docs/rate-inside.md', 'utf8');

/** What `npm run bench:rate -- LIMIT --seconds SECONDS --from FROM --seeds 1` prints. A window of a minute is judged once it is known. */
const limits: readonly (readonly [limit: string, seconds: number, from: number])[] = [
  ['token-bucket:rate=5,burst=5', 190, 10],
  ['token-bucket:rate=50,burst=10', 190, 10],
  ['token-bucket:rate=500,burst=100', 190, 10],
  ['fixed-window:limit=50,window=1s', 190, 10],
  ['sliding-window:limit=50,window=1s', 190, 10],
  ['leaky-bucket:rate=50,queue=20', 190, 10],
  ['concurrency:limit=3', 190, 10],
  ['fixed-window:limit=600,window=1m', 360, 60],
  ['fixed-window:limit=6000,window=1m', 360, 60],
  ['sliding-window:limit=600,window=1m', 360, 60],
];

function percent(share: number, digits: number): string {
  return share === 0 ? '0' : (100 * share).toFixed(digits);
}

function limitRows(): readonly (readonly string[])[] {
  return limits.map(([limit, seconds, from]) => [
    limit,
    ...conditions.map(([, condition]) => {
      const { used, rejected } = figures({ limit, seconds, ...condition }, { judged: [from, seconds] });
      return `${percent(used, 1)}, ${percent(rejected, 2)}`;
    }),
  ]);
}

const fixedRates: readonly (readonly [
  rate: number,
  workers: readonly number[],
  latencies: readonly number[],
])[] = [
  [100, [1, 5, 20], [20, 200]],
  [500, [1, 5, 20], [50]],
  [2_000, [1, 2], [20]],
  [2_000, [5, 10, 20], [20]],
  [2_000, [100, 500], [20]],
  [100, [300], [50]],
];

/** The calls of these seconds count: the first calls find their workers. */
const countedFrom = 5;
const endsAt = 20;

function fixedRateRows(): readonly (readonly string[])[] {
  return fixedRates.map(([rate, workerCounts, latencies]) => {
    const worlds = workerCounts.flatMap((workers) => latencies.map((latencyMs) => ({ workers, latencyMs })));
    const found = worlds.map((world) => callsOf({ ...world, fixed: rate, seconds: endsAt, capacity: 5_000 }));
    const used = found.map((calls) => Math.round((100 * perSecond(calls, countedFrom, endsAt)) / rate));
    const range = [...new Set([Math.min(...used), Math.max(...used)])].join('–');
    const most = Math.max(...found.map((calls) => mostWithin(calls, 1_000)));
    const times = latencies.join(', ');
    return [`${count(rate)}/s, ${workerCounts.join(', ')}`, `${times} ms`, `${range} % (${count(most)})`];
  });
}

// To write the tables again: npm run test:full -- test/bench/rate/tables.test.ts -u
test('docs/rate-inside.md has what simulations give today', async () => {
  const told = conditions.map(([name, { headers, retryAfter }]) =>
    headers !== undefined || retryAfter ? inCode(name) : name,
  );
  const withLimits = withTable(page, ['limiter', ...told], limitRows());
  const whole = withTable(withLimits, ['rate, workers', 'calls of', 'used'], fixedRateRows());
  await expect(whole).toMatchFileSnapshot('../../../docs/rate-inside.md');
});
