import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { finished, saying, startCqbatch } from '../../helpers/cqbatch.ts';
import { describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { type Edits, editsCsv, expectInOrder } from '../edits.ts';
import { aMoment, faults, kill, type Parts, startWorker } from './kill-matrix.ts';

const latencyMs = 120;
const pace = ['--rate', '60/s'];

/** A run in order on Redis, fed by one process and called by two others. */
async function begin(edits: Edits): Promise<Omit<Parts, 'redis'>> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), edits.text);
  const { url } = await redisForTest();
  const sandbox = await startSandbox(
    ...['--latency', `${latencyMs}ms`, '--fault', `${faults},reset-after-commit=1%`],
  );
  const env = { ...sandbox.env, CQBATCH_QUEUE: url, CQBATCH_BACKOFF: '20ms' };
  const workers = [await startWorker({ cwd, env }), await startWorker({ cwd, env })];
  const args = ['run', 'rows.csv', '--yes', '--on-conflict', 'in-order', '--no-worker', ...pace];
  const coordinator = startCqbatch(args, { cwd, env });
  const end = finished(coordinator);
  await saying(coordinator, 'Run 20');
  await sandbox.requested(1);
  return { cwd, env, sandbox, workers, coordinator, end };
}

async function expectExact({ cwd, sandbox }: Pick<Parts, 'cwd' | 'sandbox'>, edits: Edits): Promise<void> {
  expectInOrder(edits, await sandbox.log(), latencyMs);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report).toHaveLength(edits.rows);
  expect(report.filter(({ _outcome }) => _outcome !== 'succeeded')).toEqual([]);
}

describeWithRedis('edits in order', () => {
  test('stay in order on two workers when one is killed', async () => {
    const edits = editsCsv(80, 5);
    const parts = await begin(edits);
    await aMoment();
    const [victim] = parts.workers;
    if (victim !== undefined) await kill(victim);
    expect((await parts.end).code).toBe(0);
    await expectExact(parts, edits);
  });

  test('stay in order when a worker is frozen for longer than its locks, and thaws', async () => {
    // It must still be going when that one thaws.
    const edits = editsCsv(60, 30);
    const parts = await begin(edits);
    await aMoment();
    const [frozen] = parts.workers;
    frozen?.kill('SIGSTOP');
    // About as long as it takes to give its rows to the other one: a lock and one or two checks (src/engine/queue/bullmq.ts).
    await sleep(18_000 + Math.random() * 6_000);
    frozen?.kill('SIGCONT');
    expect((await parts.end).code).toBe(0);
    await expectExact(parts, edits);
  });

  test('stay in order when the coordinator is killed twice, and a worker with it', async () => {
    const edits = editsCsv(80, 5);
    const parts = await begin(edits);
    let { coordinator } = parts;
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment();
      await kill(coordinator);
      const victim = kills === 1 ? parts.workers[0] : undefined;
      if (victim !== undefined) await kill(victim);
      coordinator = startCqbatch(['resume', '--no-worker'], parts);
      await saying(coordinator, 'Run 20');
    }
    expect((await finished(coordinator)).code).toBe(0);
    await expectExact(parts, edits);
  });
});
