import { expect, test } from 'vitest';
import { newHome } from './home.ts';
import { eventually, kindSandbox } from './redis/machine.ts';

async function prepared(env?: Readonly<Record<string, string>>) {
  const home = await newHome(5, [...kindSandbox, '--evaluations', '4'], env);
  return { sandbox: home.sandbox, home };
}

const run = ['run', 'rows.csv', '--yes'];

test('a run keeps its rate group when it is resumed, retried, and shown', async () => {
  const { sandbox, home } = await prepared();
  const acme = ['--rate-group', 'acme'];
  await home.run(...run, '--run-id', 'r', '--max-rows', '2', ...acme);
  // The last evaluation does not exist.
  expect(await home.run('resume', 'r')).toMatchObject({ code: 1 });
  expect(await home.run('retry', 'r', '--yes', '--run-id', 'again')).toMatchObject({ code: 1 });
  expect((await sandbox.log()).map(({ id, code }) => `${id} ${code}`)).toEqual([
    ...['1 OK', '2 OK', '3 OK', '4 OK', '5 NOT_FOUND', '5 NOT_FOUND'],
  ]);
  expect(await home.json('status', 'r')).toMatchObject({ rate_group: 'acme' });
  expect(await home.json('show', 'again')).toMatchObject({ options: { rate_group: 'acme' } });
});

test('the token of a rate group is used for no run of another group, or of none', async () => {
  const { sandbox, home } = await prepared();
  const acme = { CQBATCH_RATE_GROUP: 'acme' };
  await home.runWith(acme, ...run, '--run-id', 'r', '--max-rows', '2');
  await home.run(...run, '--run-id', 'none', '--max-rows', '1');
  const before = await sandbox.log();

  const other = { CQBATCH_RATE_GROUP: 'other' };
  const remedy = /is for the rate group other, not for the rate group acme: set CQBATCH_RATE_GROUP=acme, and/;
  expect(await home.runWith(other, 'resume', 'r')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(remedy),
  });
  expect(await home.runWith(other, 'resume', 'none')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/not for runs without a rate group: remove the setting rate_group/),
  });
  expect(await sandbox.log()).toEqual(before);
  expect(await home.runWith(acme, 'resume', 'r')).toMatchObject({ code: 1 });
  expect(await home.runWith(other, 'retry', 'r', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(remedy),
  });
});

test('a daemon with the embedded datastore runs what is of its rate group, and leaves other runs', async () => {
  const { sandbox, home } = await prepared({});
  const submit = ['submit', 'rows.csv', '--yes', '--run-id'];
  expect(await home.run(...submit, 'other', '--rate-group', 'other')).toMatchObject({ code: 0 });
  expect(await home.run(...submit, 'none')).toMatchObject({ code: 0 });
  expect(await home.run(...submit, 'acme', '--rate-group', 'acme')).toMatchObject({ code: 0 });
  const daemon = await home.worker('--coordinate', '--rate-group', 'acme');
  await eventually(async () => (await home.stateOf('acme')) === 'completed');
  expect([await home.stateOf('other'), await home.stateOf('none')]).toEqual(['submitted', 'submitted']);
  const refusals = daemon.logged('cannot take a run').map(({ err }) => err);
  const whose = 'is skipped: the token of this daemon is for the rate group acme, not for';
  expect(refusals.toSorted()).toEqual([
    expect.stringContaining(`run none ${whose} runs without a rate group: start it without --rate-group and`),
    expect.stringContaining(`run other ${whose} the rate group other: start it with --rate-group other and`),
  ]);
  expect(await sandbox.log()).toHaveLength(5);
});
