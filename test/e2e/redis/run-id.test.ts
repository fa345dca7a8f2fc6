import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { newMachine, placesOnRedis } from './machine.ts';

describeWithRedis('a run id that is used twice', () => {
  const newPlace = placesOnRedis();

  test('at the same moment for the same manifest gives one run, and both commands report it', async () => {
    const home = await newMachine(await newPlace(), 50);
    const rounds = ['one', 'two', 'three'];
    for (const id of rounds) {
      const submit = (): Promise<unknown> => home.run('submit', 'rows.csv', '--yes', '--run-id', id);
      const done = { code: 0, stdout: `${id}\n` };
      expect(await Promise.all([submit(), submit()])).toMatchObject([done, done]);
    }
    expect((await readdir(join(home.stateDir, 'runs'))).toSorted()).toEqual(rounds.toSorted());
  });

  test('at the same moment for different manifests is refused to one of them', async () => {
    const home = await newMachine(await newPlace(), 50);
    await home.write('other.csv', 'evaluation_id,user_id\n1,u\n');
    const both = await Promise.all(
      ['rows.csv', 'other.csv'].map((name) => home.run('submit', name, '--yes', '--run-id', 'same')),
    );
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, 2]);
    const refused = both.find(({ code }) => code === 2);
    expect(refused?.stderr).toMatch(
      /error: Run same already exists, of another manifest \((rows|other)\.csv\): choose another --run-id\./,
    );
    expect(refused?.stdout).toBe('');
    expect(await home.stateOf('same')).toBe('submitted');
  });

  test('at the same moment in two state folders of one datastore is refused to one of them', async () => {
    const rows = 100;
    for (const id of ['one', 'two']) {
      const place = await newPlace();
      const homes = [await newMachine(place, rows), await newMachine(place, rows)] as const;
      const [here, there] = homes;
      const runs = homes.map(async (home) => {
        const result = await home.run('run', 'rows.csv', '--yes', '--run-id', id, '--rate', '1/s', '--json');
        return { home, result };
      });
      // The winner is slow until the other one has been refused, however long that takes to start.
      const { home: loser, result: refused } = await Promise.race(runs);
      const winner = loser === here ? there : here;
      expect(refused.code).toBe(5);
      expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'RUN_ID_TAKEN' } });
      expect(await winner.run('set-rate', id, '50/s')).toMatchObject({ code: 0 });
      expect((await Promise.all(runs)).map(({ result }) => result.code).toSorted()).toEqual([0, 5]);
      expect(
        JSON.parse((await loser.runWith({ CQBATCH_QUEUE_PREFIX: 'another' }, 'list', '--json')).stdout),
      ).toEqual({ runs: [] });

      const report = await winner.report(id);
      const log = await place.sandbox.log();
      expectEveryRowOnce(report, rows);
      expectAgreement(report, log);
      expect(log).toHaveLength(rows);
    }
  });
});
