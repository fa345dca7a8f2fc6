import { expect, test } from 'vitest';
import { finished, saying, startCqbatch } from '../../helpers/cqbatch.ts';
import { describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { type Edits, editsCsv, expectInOrder } from '../edits.ts';
import { newHome } from '../home.ts';
import { aMoment, faults, kill, type Parts, resume, startWorker, untilGivenAway } from './kill-matrix.ts';

const pace = ['--rate', '60/s'];

/** A run in order on Redis, fed by one process and called by two others. */
async function begin(edits: Edits): Promise<Parts> {
  const redis = await redisForTest();
  const faulty = ['--latency', '120ms', '--fault', `${faults},reset-after-commit=1%`];
  const variables = { CQBATCH_QUEUE: redis.url, CQBATCH_BACKOFF: '20ms' };
  const { cwd, env, sandbox } = await newHome(edits.text, faulty, variables);
  const workers = [await startWorker({ cwd, env, sandbox }), await startWorker({ cwd, env, sandbox })];
  const args = ['run', 'rows.csv', '--yes', '--on-conflict', 'in-order', '--no-worker', ...pace];
  const coordinator = startCqbatch(args, { cwd, env });
  const end = finished(coordinator);
  await saying(coordinator, 'Run 20');
  await sandbox.requested(1);
  return { cwd, env, redis, sandbox, workers, coordinator, end };
}

async function expectExact({ cwd, sandbox }: Pick<Parts, 'cwd' | 'sandbox'>, edits: Edits): Promise<void> {
  expectInOrder(edits, await sandbox.log());
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report).toHaveLength(edits.rows);
  expect(report.filter(({ _outcome }) => _outcome !== 'succeeded')).toEqual([]);
}

describeWithRedis('edits in order', () => {
  test('stay in order when a worker is frozen for longer than its locks, and thaws', async () => {
    const edits = editsCsv(60, 12);
    const parts = await begin(edits);
    await aMoment(parts);
    const [frozen] = parts.workers;
    frozen?.kill('SIGSTOP');
    await untilGivenAway(parts);
    frozen?.kill('SIGCONT');
    expect((await parts.end).code).toBe(0);
    await expectExact(parts, edits);
  });

  test('stay in order when the coordinator is killed twice, and a worker with it', async () => {
    const edits = editsCsv(80, 5);
    const parts = await begin(edits);
    let { coordinator } = parts;
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment(parts, 100);
      await kill(coordinator);
      const victim = kills === 1 ? parts.workers[0] : undefined;
      if (victim !== undefined) await kill(victim);
      coordinator = await resume(parts, '--no-worker');
    }
    expect((await finished(coordinator)).code).toBe(0);
    await expectExact(parts, edits);
  });
});
