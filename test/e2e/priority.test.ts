import { expect, test } from 'vitest';
import { startSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, kindSandbox, type Machine, newMachine } from './redis/machine.ts';

const submit = async (home: Machine, id: string, manifest: string, ...options: string[]): Promise<void> => {
  const submitted = await home.run('submit', manifest, '--yes', '--run-id', id, ...options);
  expect(submitted).toMatchObject({ code: 0 });
};

test('a daemon without Redis leaves a run for an urgent one, and goes on with it afterwards', async () => {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms');
  const home = await newMachine({ sandbox }, 300);
  const hasEnded = (id: string) => async () => (await home.stateOf(id)) === 'completed';
  await home.write('urgent.csv', restoreCsv(40, 1_001).text);
  await home.write('waits.csv', restoreCsv(40, 2_001).text);
  const daemon = await home.worker('--coordinate');
  await submit(home, 'nightly', 'rows.csv', '--rate', '1/s');
  await submit(home, 'waits', 'waits.csv', '--priority', 'low', '--rate', '40/s');
  await sandbox.requested(2);
  await submit(home, 'urgent', 'urgent.csv', '--priority', 'high', '--rate', '40/s');
  await eventually(hasEnded('urgent'));
  expect(await home.stateOf('nightly')).not.toBe('completed');

  // The low run would have to wait for the nightly one, which has 300 rows at 1 a second.
  expect(await home.run('set-priority', 'waits', 'high', '--reason', 'needed at nine')).toEqual({
    code: 0,
    stdout: 'Run waits has priority high.\n',
    stderr: '',
  });
  await eventually(hasEnded('waits'));
  await eventually(async () => (await home.stateOf('nightly')) === 'running');
  expect((await home.run('set-rate', 'nightly', 'none')).code).toBe(0);
  await eventually(hasEnded('nightly'));
  await daemon.stop();

  const calls = await sandbox.log();
  for (const [id, rows, first] of [
    ['nightly', 300, 1],
    ['urgent', 40, 1_001],
    ['waits', 40, 2_001],
  ] as const) {
    const report = await home.report(id);
    expectEveryRowOnce(report, rows);
    expectAgreement(
      report,
      calls.filter((call) => Number(call.id) >= first && Number(call.id) < first + rows),
    );
  }
  expect(await home.json('show', 'waits')).toMatchObject({
    options: { priority: 'high' },
    events: expect.arrayContaining([
      expect.objectContaining({ event: 'priority high', reason: 'needed at nine' }),
    ]),
  });
});
