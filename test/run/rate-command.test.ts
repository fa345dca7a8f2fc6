import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { RateCommand } from '../../src/cluster/entries.ts';
import { clearRate, watchRate, writeRate } from '../../src/run/rate-command.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const at = '2026-01-01T00:00:00.000Z';
const twenty: RateCommand = { rate: { text: '20/s', auto: false, perSecond: 20 }, at };
const none: RateCommand = { rate: null, at: '2026-01-02T00:00:00.000Z', reason: 'nobody else calls it' };

/** The rates that a run of this folder hears of, and a cluster in which only rates are known. */
async function heard(folder: string, registered?: () => RateCommand | undefined) {
  const rateOf = vi.fn(async () => registered?.());
  const setRate = vi.fn(async () => {});
  const cluster = { rateOf, setRate } as unknown as Cluster;
  const rates: RateCommand[] = [];
  const watch = watchRate('r', folder, cluster, (command) => rates.push(command));
  onTestFinished(() => watch.close());
  return { rates, rateOf, setRate, cluster };
}

const patiently = { timeout: 60_000 };

test('a rate in the folder of the run arrives, with who wants it and why, and so does the next one', async () => {
  const folder = await temporaryFolder();
  const { rates } = await heard(folder);
  await writeRate(folder, twenty);
  await vi.waitUntil(() => rates.length === 1, patiently);
  await writeRate(folder, none);
  await vi.waitUntil(() => rates.length === 2, patiently);
  expect(rates).toEqual([twenty, none]);
});

test('the later rate counts, whether it is in the folder or in the cluster', async () => {
  const folder = await temporaryFolder();
  await writeRate(folder, twenty);
  const { rates } = await heard(folder, () => none);
  await vi.waitUntil(() => rates.at(-1)?.rate === null, patiently);
});

test('a rate that was cleared is forgotten, also in the cluster', async () => {
  const folder = await temporaryFolder();
  await writeRate(folder, twenty);
  const { setRate, cluster } = await heard(await temporaryFolder());
  await clearRate('r', folder, cluster);
  expect(setRate).toHaveBeenCalledWith('r', null);
  const { rates, rateOf } = await heard(folder);
  await vi.waitUntil(() => rateOf.mock.calls.length > 1, patiently);
  expect(rates).toEqual([]);
});

test.each(['', '{"rate":{"text":"20/s"', '{"rate":"20/s","at":"2026-01-01T00:00:00.000Z"}', '{"rate":null}'])(
  'a file that says %j wants no rate',
  async (text) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'set-rate.json'), text);
    const { rates, rateOf } = await heard(folder);
    await vi.waitUntil(() => rateOf.mock.calls.length > 1, patiently);
    expect(rates).toEqual([]);
  },
);
