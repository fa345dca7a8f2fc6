import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { newMachine, placesOnRedis } from './machine.ts';

const rows = 33_000;
/** In megabytes: much more than a run needs, and less than a process needs that keeps two kilobytes of each row. */
const heap = 64;

describeWithRedis('a run on Redis', () => {
  const newPlace = placesOnRedis();

  test('needs no more memory for more rows', async () => {
    const place = await newPlace('--evaluations', `${rows}`);
    const home = await newMachine({ ...place, env: { NODE_OPTIONS: `--max-old-space-size=${heap}` } }, rows);
    const { end } = home.start('run', 'rows.csv', '--yes', '--rate', 'none', '--concurrency', '50');
    expect((await end).code).toBe(0);
  });
});
