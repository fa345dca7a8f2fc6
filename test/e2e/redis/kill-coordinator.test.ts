import { expect, test } from 'vitest';
import { finished } from '../../helpers/cqbatch.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import {
  aMoment,
  begin,
  concurrency,
  expectExactness,
  kill,
  patience,
  resume,
  workers,
} from './kill-matrix.ts';

describeWithRedis('a run on Redis is exact', () => {
  test.each([
    ['', '50ms'],
    // No process holds a row for that long.
    [' while rows that were handed back wait to be fed again', '6s'],
  ])('when its coordinator is killed three times%s', async (_title, backoff) => {
    const parts = await begin({ backoff });
    let { coordinator } = parts;
    for (let kills = 0; kills < 3; kills += 1) {
      await aMoment(parts);
      await kill(coordinator);
      coordinator = await resume(parts, '--no-worker');
    }
    const { code } = await finished(coordinator);
    expect(code).toBe(1);
    // The workers lived on: no call was lost.
    await expectExactness(parts, { lost: 0 });
  });

  test('when one process does everything and is killed twice', async () => {
    const parts = await begin();
    await Promise.all([...parts.workers, parts.coordinator].map(kill));
    const ofWorker = ['--concurrency', String(concurrency), ...patience];
    let everything = await resume(parts, ...ofWorker);
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment(parts);
      await kill(everything);
      everything = await resume(parts, ...ofWorker);
    }
    expect((await finished(everything)).code).toBe(1);
    // The workers were killed, too.
    await expectExactness(parts, { lost: workers + 2 });
  });
});
