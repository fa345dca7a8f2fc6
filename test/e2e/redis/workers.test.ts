import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { sandboxToken } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { mixedCsv } from '../manifests.ts';
import { newMachine, placesOnRedis, textsBelow } from './machine.ts';

const rows = 300;

describeWithRedis('workers of other machines', () => {
  const newPlace = placesOnRedis();

  test('share the rows of a run, and the report matches the calls that the API received', async () => {
    const place = await newPlace(
      ...['--soundboards', '3000', '--unrecoverable', '2%', '--not-deleted', '2%', '--latency', '10ms'],
      ...['--fault', 'reset=2%,500=2%,502-after-commit=2%,503=2%,malformed=2%'],
    );
    const home = await newMachine(place);
    await home.write('mixed.csv', mixedCsv(rows).text);
    const others = [await newMachine(place), await newMachine(place)];
    const workers = await Promise.all(
      others.map((machine) =>
        machine.worker('--concurrency', '5', '--timeout', '10m', '--log-level', 'debug'),
      ),
    );

    const held = place.sandbox.hold();
    const run = home.runWith(
      { CQBATCH_BACKOFF: '20ms' },
      ...['run', 'mixed.csv', '--yes', '--no-worker', '--run-id', 'shared'],
      ...['--log-level', 'debug'],
    );
    // More than one of them calls at once.
    await place.sandbox.requested(6);
    held.release();
    const { code, stderr } = await run;
    expect({ code, stderr }).toMatchObject({ code: 1 });
    const report = await home.report('shared');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await place.sandbox.log());
    for (const worker of workers) expect(worker.logged('row finished')).not.toEqual([]);
    expect(await Promise.all(workers.map((worker) => worker.stop()))).toMatchObject([
      { code: 0 },
      { code: 0 },
    ]);

    // Redis has written down every key and value that there ever was.
    const everWritten = await textsBelow(place.redis.folder);
    expect(everWritten.includes('evaluation_id')).toBe(true);
    expect(everWritten.includes(sandboxToken)).toBe(false);
    for (const machine of [home, ...others]) {
      // Not even a state folder is made where a worker runs.
      if (machine !== home) expect(await readdir(machine.cwd)).toEqual(['rows.csv', 'secrets']);
      else expect((await textsBelow(machine.stateDir)).includes(sandboxToken)).toBe(false);
    }
    const said = [stderr, ...workers.map((worker) => worker.stderr)].join('\n');
    expect(said.includes(sandboxToken)).toBe(false);
  });
});

describeWithRedis('a worker', () => {
  const newPlace = placesOnRedis();

  test('that is stopped finishes its calls, and the others continue', async () => {
    const place = await newPlace('--latency', '2s');
    const home = await newMachine(place, 60);
    const run = home.start('run', 'rows.csv', '--yes', '--no-worker', '--run-id', 'r');
    const stopped = await (await newMachine(place)).worker('--concurrency', '4');
    await place.sandbox.requested(4);
    const other = await (await newMachine(place)).worker('--concurrency', '4');
    place.sandbox.configure({ latency: '5ms' });
    expect((await stopped.stop()).code).toBe(0);

    expect(await run.end).toMatchObject({ code: 0 });
    // None was taken after the signal, and none was given back.
    expect(stopped.logged('row finished').length).toBeGreaterThanOrEqual(4);
    expect(stopped.logged('row returned')).toEqual([]);
    const report = await home.report('r');
    expectEveryRowOnce(report, 60);
    expectAgreement(report, await place.sandbox.log());
    expect(other.logged('row finished').length + stopped.logged('row finished').length).toBe(60);
  });

  test('without time to wait abandons its calls; they are repeated and marked unclear', async () => {
    const place = await newPlace('--latency', '100s');
    const home = await newMachine(place, 60);
    const run = home.start('run', 'rows.csv', '--yes', '--no-worker', '--run-id', 'r');
    const hasty = await (await newMachine(place)).worker('--concurrency', '4', '--shutdown-timeout', '1ms');
    await place.sandbox.requested(4);
    expect((await hasty.stop()).code).toBe(0);
    const returned = hasty.logged('row returned').map(({ row }) => String(row));
    expect(returned).toHaveLength(4);

    place.sandbox.configure({ latency: '5ms' });
    await (await newMachine(place)).worker();
    expect(await run.end).toMatchObject({ code: 0 });
    const report = await home.report('r');
    const log = await place.sandbox.log();
    expectEveryRowOnce(report, 60);
    expectAgreement(report, log, { killed: true });
    expect(log).toHaveLength(64);
    const marked = report.filter((row) => row['_unclear'] === 'yes').map((row) => row['_row'] ?? '');
    expect(marked.toSorted()).toEqual(returned.toSorted());
  });

  test('with a wrong token ends with the reason, and another worker calls its rows', async () => {
    const place = await newPlace();
    const home = await newMachine(place, 60);
    const run = home.start('run', 'rows.csv', '--yes', '--no-worker', '--run-id', 'r');
    await run.says('Run r');
    const bad = await (await newMachine(place, 0, 'wrong')).worker('--json', '--concurrency', '4');
    const { code, stdout, stderr } = await bad.end;
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'API_REFUSES' } });
    expect(stderr).toMatch(/^error: The API rejected the token: .*\(HTTP 401\)\. Check CQBATCH_TOKEN/m);

    const refusals = (await place.sandbox.log()).length;
    expect(refusals).toBeGreaterThan(0);
    await (await newMachine(place)).worker();
    expect(await run.end).toMatchObject({ code: 0 });
    const report = await home.report('r');
    const log = await place.sandbox.log();
    expectEveryRowOnce(report, 60);
    expect(report.filter((row) => row['_outcome'] !== 'succeeded' || row['_unclear'] === 'yes')).toEqual([]);
    expect(log.slice(0, refusals).filter(({ status }) => status !== 401)).toEqual([]);
    expect(log.slice(refusals).map(({ status }) => status)).toEqual(Array(60).fill(200));
  });
});
