import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt, cqbatch } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Issues as the API of GitHub has them: 404 for those that there are not. */
async function issueServer(titles: Record<string, string>) {
  const server = await httpServer((response, { path, body }) => {
    const [, number = ''] = /^\/repos\/octo\/app\/issues\/(\d+)$/.exec(path ?? '') ?? [];
    const known = titles[number] !== undefined;
    if (known) titles[number] = (JSON.parse(body) as { title: string }).title;
    const answer = known
      ? { number: Number(number), html_url: `https://github.com/octo/app/issues/${number}`, state: 'open' }
      : { message: `Issue ${number} was not found` };
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  return { ...server, titles };
}

test('operations of the user are planned, run, reported and undone, and named when they are not loaded', async () => {
  const cwd = await temporaryFolder();
  const server = await issueServer({ 12: 'App crashes', 13: 'Typo' });
  await cp(new URL('../../examples/operations.js', import.meta.url), join(cwd, 'operations.mjs'));
  const text =
    'issue,title,old_title\nocto/app#12,Crash on start,App crashes\nocto/app#13,Typos,Typo\nocto/app#14,x,\n';
  await writeFile(join(cwd, 'issues.csv'), text);
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url, CQBATCH_TOKEN: 'secret' };
  const run = (...args: string[]) => cqbatch(args, { cwd, env });
  const own = ['--operations', './operations.mjs'];

  const plan = await run('plan', 'issues.csv', ...own);
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('  update-issue: 3 calls for 3 issues'),
  });
  expect(plan.stdout).toContain(`PATCH ${server.url}/repos/octo/app/issues/12`);

  expect(await run('run', 'issues.csv', '--yes', '--run-id', 'r', ...own)).toMatchObject({ code: 1 });
  const report = await readCsv(join(cwd, '.cqbatch/runs/r'), 'report.csv');
  expect(
    report.map((row) => [row['issue'], row['_outcome'], row['_code'], row['_url'], row['_state']]),
  ).toEqual([
    ['octo/app#12', 'succeeded', 'OK', 'https://github.com/octo/app/issues/12', 'open'],
    ['octo/app#13', 'succeeded', 'OK', 'https://github.com/octo/app/issues/13', 'open'],
    ['octo/app#14', 'failed', 'NOT_FOUND', '', ''],
  ]);
  expect(server.titles).toEqual({ 12: 'Crash on start', 13: 'Typos' });
  const seen = server.seen.map(({ method, path, body }) => `${method} ${path} ${body}`).sort();
  expect(seen).toEqual([
    'PATCH /repos/octo/app/issues/12 {"title":"Crash on start"}',
    'PATCH /repos/octo/app/issues/13 {"title":"Typos"}',
    'PATCH /repos/octo/app/issues/14 {"title":"x"}',
  ]);

  expect(await run('undo', 'r', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Run r needs the operation update-issue, which is not built in'),
  });
  expect(await run('undo', 'r', '--yes', ...own)).toMatchObject({ code: 0 });
  expect(server.titles).toEqual({ 12: 'App crashes', 13: 'Typo' });
});
