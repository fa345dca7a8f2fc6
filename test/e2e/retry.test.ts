import { expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { readCsv, readSummary } from '../helpers/run-folder.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { calledSince } from './redis/kill-matrix.ts';

/** An API that refuses a soundboard as often as it says, each time in this way. */
async function refusingApi(refusals: Readonly<Record<number, { times: number; code: string }>>) {
  const left = new Map(Object.entries(refusals).map(([id, { times }]) => [Number(id), times]));
  return httpServer((response, { body }) => {
    const id = Number(/"soundboard_id":(\d+)/.exec(body)?.[1]);
    const times = left.get(id) ?? 0;
    left.set(id, times - 1);
    if (times > 0) response.writeHead(400).end(JSON.stringify({ code: refusals[id]?.code, message: 'no' }));
    else response.end(JSON.stringify({ soundboard_id: id }));
  });
}

test('retry selects rows by code or unclear rows, keeps their numbers, and writes one report', async () => {
  const api = await refusingApi({
    2: { times: 1, code: 'ABORTED' },
    3: { times: 2, code: 'NOT_FOUND' },
    4: { times: 1, code: 'INTERNAL' },
  });
  const text = 'Soundboard ID,title,note\n1,a,x\n2,b,y\n3,c,=z\n4,d,\n5,e,\n2,b,again\n';
  const { run, folder, write } = await newHome(0, [], { ...anyDatastore(), CQBATCH_BASE_URL: api.url });
  await write('boards.csv', text);
  const start = ['--yes', '--attempts', '1'];
  const first = await run('run', 'boards.csv', '--run-id', 'a', ...start);
  expect(first).toMatchObject({ code: 1 });
  // What is not there will not be there.
  expect(first.stdout).toMatch(/^Next: Check 1 unclear row in the service\n {2}cqbatch check a$/m);
  expect(first.stdout).toMatch(/^Then: Retry 2 rows .*: cqbatch retry a --transient$/m);
  expect(first.stdout).toMatch(/^Then: Correct 1 row: cqbatch run .*correct\.csv$/m);
  expect(await readCsv(folder('a'), 'correct.csv')).toMatchObject([{ _row: '3', _error_code: 'NOT_FOUND' }]);
  const plan = await run('retry', 'a', '--transient', '--plan');
  expect(plan.stderr).toContain('Run a of boards.csv: 2 of 6 rows to retry (1 ABORTED, 1 INTERNAL)');

  const codes = ['--code', 'aborted', 'NOT_FOUND', '--canary', '1'];
  const second = await run('retry', 'a', ...codes, '--run-id', 'b', ...start);
  expect(second).toMatchObject({ code: 1 });
  expect(second.stderr).toContain('Run a of boards.csv: 2 of 6 rows to retry (1 ABORTED, 1 NOT_FOUND)');
  expect(second.stderr).toContain('Canary: 1 row, 0 failed');
  expect(second.stdout).toMatch(/^Then: .*: cqbatch report b --with-retries$/m);
  expect(await readCsv(folder('b'), 'report.csv')).toMatchObject([
    { _row: '2', note: 'y', _outcome: 'succeeded' },
    { _row: '3', note: "'=z", _outcome: 'failed' },
  ]);
  expect(await run('retry', 'a', '--unclear', '--run-id', 'c', ...start)).toMatchObject({ code: 0 });
  expect(await readCsv(folder('c'), 'report.csv')).toMatchObject([{ _row: '4', _unclear: 'yes' }]);
  // A retry of a retry, which is the newest with a row that has failed since.
  expect(await run('retry', '--run-id', 'd', ...start)).toMatchObject({ code: 0 });
  expect(await readCsv(folder('d'), 'report.csv')).toMatchObject([{ _row: '3', _outcome: 'succeeded' }]);
  expect(await readSummary(folder('d'))).toMatchObject({ retry_of: 'b' });
  expect(await run('retry', 'a', ...start)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'Nothing to retry: no row of run a failed, or every row that failed has since succeeded',
    ),
  });

  const all = await run('report', 'c', '--with-retries');
  expect(all.stdout).toMatch(
    /^Run a completed with its retries b, c, d.*: 6 rows, 5 succeeded, 1 duplicate$/m,
  );
  expect((await run('list')).stdout).toMatch(/^a .* 3 \(cured\) /m);
  expect(await readCsv(folder('a'), 'report.csv')).toMatchObject([
    { 'Soundboard ID': '1', _row: '1', _outcome: 'succeeded', _attempts: '1' },
    { _row: '2', _outcome: 'succeeded', _attempts: '2' },
    { _row: '3', _outcome: 'succeeded', _attempts: '3' },
    { _row: '4', _outcome: 'succeeded', _attempts: '2', _unclear: 'yes' },
    { _row: '5', _outcome: 'succeeded', _attempts: '1' },
    { _row: '6', _outcome: 'duplicate', _message: 'same as row 2' },
  ]);
  expect(await readCsv(folder('a'), 'failed.csv')).toEqual([]);
  expect(await readSummary(folder('a'))).toMatchObject({ retries: ['b', 'c', 'd'], attempts: 9 });
  expect(api.seen).toHaveLength(9);
});

test('a retry of a cancelled run takes the rows that were never sent; no retry takes rows that another retry may call', async () => {
  // At 2/s they do not finish before the next command starts, even on the busiest machine.
  const rows = 300;
  const slowly = ['--rate', '2/s'];
  const flags = ['--unrecoverable', '0%', '--not-deleted', '0%'];
  const { sandbox, run, start, ...home } = await newHome(rows, flags);
  const going = start('run', 'rows.csv', '--yes', '--run-id', 'a', ...slowly);
  await sandbox.requested(3);
  const cancelled = await run('cancel', 'a', '--yes');
  expect(cancelled.stdout).toMatch(/^\d+ rows were not called, as you wished\./m);
  expect(cancelled.stdout).toMatch(/^Next: .* back by hand\n {2}cqbatch undo a$/m);
  await going.end;
  // As cron would start it again.
  expect(await run('run', 'rows.csv', '--yes', '--run-id', 'a', '--or-resume')).toMatchObject({ code: 3 });

  const retried = start('retry', '--yes', '--run-id', 'b', ...slowly);
  await calledSince({ sandbox }, 3);
  expect(await run('retry', 'a', '--yes')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Run b, which retries rows of run a, is still in progress.'),
  });
  retried.kill('SIGINT');
  await retried.end;
  expect(await run('retry', 'a', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"cqbatch resume b" continues it, or cancel it'),
  });
  expect(await run('resume', '--rate', 'none')).toMatchObject({ code: 0 });
  expect(await run('report', '--with-retries')).toMatchObject({ code: 0 });
  expectEveryRowOnce(await home.report('a'), rows);
  expect(await sandbox.log()).toHaveLength(rows);
});
