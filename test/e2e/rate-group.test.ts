import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { sandboxToken, startSandbox } from '../helpers/sandbox.ts';
import { eventually, kindSandbox, newMachine } from './redis/machine.ts';

const embedded = { redis: { url: '' } as RedisServer, prefix: 'none' };

/** A machine with a folder of tokens in which only that of `acme` is good. */
async function prepared(env: Readonly<Record<string, string>>) {
  const sandbox = await startSandbox(...kindSandbox, '--evaluations', '4');
  const tokens = { CQBATCH_TOKEN_FILE: '', CQBATCH_TOKEN_DIR: 'tokens' };
  const home = await newMachine({ ...embedded, sandbox, env: { ...env, ...tokens } }, 5);
  await mkdir(join(home.cwd, 'tokens'));
  await home.write('tokens/acme', sandboxToken);
  await home.write('tokens/other', 'not a token');
  return { sandbox, home };
}

const run = ['run', 'rows.csv', '--yes'];

test('a run has the token of its rate group, which it keeps when it is resumed, retried, and shown', async () => {
  const { sandbox, home } = await prepared(anyDatastore());
  const acme = ['--rate-group', 'acme'];
  const first = await home.run(...run, '--run-id', 'r', '--max-rows', '2', ...acme);
  expect(first.stderr).toContain(`on ${sandbox.url} (rate group acme)`);
  // The last evaluation does not exist.
  expect(await home.run('resume', 'r')).toMatchObject({ code: 1 });
  expect(await home.run('retry', 'r', '--yes', '--run-id', 'again')).toMatchObject({ code: 1 });
  expect((await sandbox.log()).map(({ id, code }) => `${id} ${code}`)).toEqual([
    ...['1 OK', '2 OK', '3 OK', '4 OK', '5 NOT_FOUND', '5 NOT_FOUND'],
  ]);
  const { runs } = await home.json<{ runs: readonly object[] }>('list');
  expect(runs).toMatchObject([
    { run: 'again', rate_group: 'acme' },
    { run: 'r', rate_group: 'acme' },
  ]);
  expect((await home.run('status', 'r')).stdout).toContain(`API       ${sandbox.url} (rate group acme)`);
  expect(await home.json('show', 'again')).toMatchObject({ options: { rate_group: 'acme' } });
});

test.each([
  ['no group', [], /TOKEN_MISSING|name a file of --token-dir with --rate-group NAME/],
  [
    'a group without a file',
    ['--rate-group', 'unknown'],
    /unknown cannot be read \(ENOENT\): check --token-dir/,
  ],
  ['a file that holds no token', ['--rate-group', 'other'], /contains spaces/],
  ['an invalid name', ['--rate-group', '../acme'], /--rate-group "\.\.\/acme": write 1 to 64 letters/],
])('a run with %s has no token, and sends nothing', async (_title, flags, message) => {
  const { sandbox, home } = await prepared(anyDatastore());
  expect(await home.run(...run, ...flags)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  expect(await sandbox.log()).toEqual([]);
});

test('a token folder has no token for a retry of a run without a group, which says so', async () => {
  const { home } = await prepared(anyDatastore());
  const token = { CQBATCH_TOKEN: sandboxToken, CQBATCH_TOKEN_DIR: '' };
  expect(await home.runWith(token, ...run, '--run-id', 'r')).toMatchObject({ code: 1 });
  expect(await home.runWith(token, 'retry', 'r', '--yes', '--token-dir', 'tokens')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('warning: --token-dir has no effect: the run has no rate group.'),
  });
});

test('a plan that was signed off for a rate group is run with its token only', async () => {
  const { home } = await prepared(anyDatastore());
  expect(await home.run('plan', 'rows.csv', '--out', 'p.cqplan', '--rate-group', 'acme')).toMatchObject({
    code: 0,
  });
  expect(await home.run('run', 'p.cqplan', '--rate-group', 'other')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('signed off with --rate-group acme, but now it is other'),
  });
  expect(await home.run('run', 'p.cqplan')).toMatchObject({ code: 1 });
});

test('a daemon with the embedded datastore runs what it has a token for', async () => {
  const { sandbox, home } = await prepared({});
  for (const group of ['other', 'acme'])
    expect(
      await home.run('submit', 'rows.csv', '--yes', '--run-id', group, '--rate-group', group),
    ).toMatchObject({
      code: 0,
    });
  const daemon = await home.worker('--coordinate');
  await eventually(async () => (await home.stateOf('acme')) === 'completed');
  expect(await home.stateOf('other')).toBe('submitted');
  const refusals = () => daemon.logged('cannot take a run').map(({ err }) => err);
  const refusal = 'run other is skipped: there is no token for the rate group other: ';
  expect(refusals()).toEqual([expect.stringContaining(`${refusal}The access token contains spaces`)]);
  await rm(join(home.cwd, 'tokens', 'other'));
  await eventually(() => refusals().length === 2);
  expect(refusals()[1]).toBe(`${refusal}see --token-dir and --rate-group`);
  await writeFile(join(home.cwd, 'tokens', 'other'), sandboxToken);
  await eventually(async () => (await home.stateOf('other')) === 'completed');
  expect(await sandbox.log()).toHaveLength(10);

  const add = ['schedule', 'add', 'yearly', '--cron', '0 0 1 1 *', '--manifest', 'rows.csv'];
  expect(await home.run(...add, '--rate-group', 'acme')).toMatchObject({ code: 0 });
  expect(await home.run('schedule', 'trigger', 'yearly')).toMatchObject({ code: 0 });
  await eventually(async () => {
    const { runs } = await home.json<{ runs: { rate_group?: string; state: string }[] }>('list');
    return runs.length === 3 && runs.every(({ rate_group, state }) => rate_group && state === 'completed');
  }, 200);
  expect((await daemon.stop()).code).toBe(0);
});
