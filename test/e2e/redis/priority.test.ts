import { expect, onTestFinished, test } from 'vitest';
import { bullmqOn } from '../../../src/engine/queue/bullmq.ts';
import { type BatchJobData, decodeBatch } from '../../../src/engine/queue/payload.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import { describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { restoreCsv } from '../manifests.ts';
import { eventually, kindSandbox, newMachine, openDatastore, type Place } from './machine.ts';

const rowsOfEach = 60;
const concurrency = 4;

/** Which rows wait for workers, by run, with the priorities of their batches. */
async function watchQueue(place: Required<Pick<Place, 'redis' | 'sandbox' | 'prefix'>>) {
  const datastore = await openDatastore(place);
  const { classes, options } = bullmqOn(datastore);
  const rows = openRowQueue(datastore, { baseUrl: place.sandbox.url });
  const queue = new classes.Queue<BatchJobData>(rows.name, options);
  onTestFinished(async () => void (await Promise.all([rows.close(), queue.close()])));
  return async (run: string) => {
    const batches = (await queue.getJobs(['prioritized'])).map(({ data, priority }) => {
      const { run: owner, tasks } = decodeBatch(data);
      return { tasks: owner === run ? tasks : [], priority };
    });
    const own = batches.filter(({ tasks }) => tasks.length > 0);
    return {
      waiting: own.reduce((sum, { tasks }) => sum + tasks.length, 0),
      priorities: [...new Set(own.map(({ priority }) => priority))],
    };
  };
}

describeWithRedis('runs of one API', () => {
  test('are called by their priority, then in order of arrival', async () => {
    const sandbox = await startSandbox(...kindSandbox, '--latency', '10ms', '--evaluations', '20000');
    const place = { redis: await redisForTest(), sandbox, prefix: 'priority' };
    const home = await newMachine(place);
    const queued = await watchQueue(place);
    const daemon = await home.worker('--coordinate', '--concurrency', '0');
    const runs = ['late', 'usual', 'changed', 'second', 'urgent'];
    const given: Readonly<Record<string, string>> = { late: 'low', changed: 'low', urgent: 'high' };
    for (const [index, id] of runs.entries()) {
      await home.write(`${id}.csv`, restoreCsv(rowsOfEach, 1 + 1_000 * index).text);
      const priority = ['--priority', given[id] ?? 'normal'];
      const submitted = await home.run('submit', `${id}.csv`, '--yes', '--run-id', id, ...priority);
      expect(submitted).toMatchObject({ code: 0 });
      await eventually(async () => (await queued(id)).waiting === rowsOfEach);
    }
    expect(await home.run('set-priority', 'changed', 'high')).toMatchObject({ code: 0 });
    await eventually(async () => (await queued('changed')).priorities.join() === '1');

    const worker = await (await newMachine(place)).worker('--concurrency', `${concurrency}`);
    await eventually(() => daemon.logged('no longer coordinating').length === runs.length);
    const calls = await sandbox.log();
    const callsOf = (id: string) =>
      calls.filter((call) => Math.floor((Number(call.id) - 1) / 1_000) === runs.indexOf(id));
    for (const id of runs) {
      const report = await home.report(id);
      expectEveryRowOnce(report, rowsOfEach);
      expectAgreement(report, callsOf(id));
    }
    const expected = ['urgent', 'changed', 'usual', 'second', 'late'];
    for (const [place, id] of expected.entries()) {
      const places = callsOf(id).map((call) => calls.indexOf(call));
      // Calls in flight at one time may arrive in any order.
      expect([id, Math.min(...places) > place * rowsOfEach - concurrency]).toEqual([id, true]);
      expect([id, Math.max(...places) < (place + 1) * rowsOfEach + concurrency]).toEqual([id, true]);
    }
    await worker.stop();
    await daemon.stop();
  });
});
