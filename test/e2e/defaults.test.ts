import { expect, test } from 'vitest';
import { asUsersHaveIt, cqbatchProcess } from '../helpers/cqbatch.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';
import { kindSandbox } from './redis/machine.ts';

/** A folder with a manifest, and an API: no setting is given, and the datastore is the embedded one. */
async function newPlace(text: string, ...sandboxArgs: string[]) {
  const home = await newHome(text, [...kindSandbox, ...sandboxArgs], asUsersHaveIt);
  return { ...home, type: (line: string) => cqbatchProcess(line.split(' '), home.options) };
}

test('with the defaults a manifest is planned, run, inspected and retried', async () => {
  const { text } = restoreCsv(60);
  const { sandbox, type, report } = await newPlace(`${text}9999999,nobody\n`, '--fault', '503=5%');
  expect(await type('plan rows.csv')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Ready: 61'),
  });
  expect(await sandbox.log()).toEqual([]);
  expect(await type('run rows.csv --yes --run-id first')).toMatchObject({ code: 1 });
  const rows = await report('first');
  expectEveryRowOnce(rows, 61);
  expectAgreement(rows, await sandbox.log());
  expect(rows.filter((row) => row['_outcome'] === 'succeeded')).toHaveLength(60);
  expect((await type('status first')).stdout).toContain('61 of 61 rows (100 %)');
  expect((await type('list')).stdout).toContain('first');
  expect((await type('report first')).code).toBe(0);
  const calls = (await sandbox.log()).length;
  expect(await type('retry first --yes --run-id again')).toMatchObject({ code: 1 });
  expect((await sandbox.log()).slice(calls).map(({ id }) => id)).toEqual(['9999999']);
});

test('with the defaults rows that omit fields need consent, and an edit is undone', async () => {
  const { sandbox, type } = await newPlace(
    'soundboard_id,title,old_title\n1,new,Recording 1\n2,new,Recording 2\n',
  );
  expect(await type('plan rows.csv')).toMatchObject({ code: 2 });
  expect(await type('run rows.csv --yes --run-id edit')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--allow-partial'),
  });
  expect(await sandbox.log()).toEqual([]);
  expect(await type('run rows.csv --yes --run-id edit --allow-partial')).toMatchObject({ code: 0 });
  expect(await sandbox.changed()).toHaveLength(2);
  expect(await type('undo edit --yes')).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(4);
});

test('with the defaults a daemon takes a submitted run to its end', async () => {
  const { sandbox, start, type, report } = await newPlace(restoreCsv(40).text);
  expect(await type('submit rows.csv --yes --run-id later')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('start one here with "cqbatch worker --coordinate".'),
  });
  const daemon = start('worker', '--coordinate');
  expect(await type('status later --watch')).toMatchObject({ code: 0 });
  // Its report is written when it has ended.
  await daemon.says('no longer coordinating');
  const rows = await report('later');
  expectEveryRowOnce(rows, 40);
  expectAgreement(rows, await sandbox.log());
});
