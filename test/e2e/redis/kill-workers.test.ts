import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import {
  aMoment,
  begin,
  expectExactness,
  kill,
  startWorker,
  untilGivenAway,
  workers,
} from './kill-matrix.ts';

describeWithRedis('a run on Redis is exact', () => {
  test('when one of its workers is killed three times', async () => {
    const parts = await begin();
    for (let kills = 0; kills < 3; kills += 1) {
      await aMoment(parts);
      const [victim] = parts.workers.splice(0, 1);
      if (victim !== undefined) await kill(victim);
      parts.workers.push(await startWorker(parts));
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, { lost: 3 });
  });

  test('when all of its workers are killed twice', async () => {
    const parts = await begin();
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment(parts);
      await Promise.all(parts.workers.splice(0).map(kill));
      for (let index = 0; index < workers; index += 1) parts.workers.push(await startWorker(parts));
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, { lost: 2 * workers });
  });

  test('when both of its workers are frozen for longer than their locks', async () => {
    const parts = await begin();
    const frozen = [...parts.workers];
    for (const worker of frozen) {
      await aMoment(parts, 40);
      worker.kill('SIGSTOP');
    }
    await startWorker(parts);
    await untilGivenAway(parts);
    for (const worker of frozen) worker.kill('SIGCONT');
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, { lost: workers });
  });
});
