import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt, cqbatch, cqbatchProcess } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { paying } from './paying-operation.ts';

/** Issues as the API of GitHub has them: 404 for those that there are not; and a folder with the operations of the examples. */
async function issues(titles: Record<string, string>, text: string) {
  const server = await httpServer((response, { path, body }) => {
    const [, number = ''] = /^\/repos\/octo\/app\/issues\/(\d+)$/.exec(path ?? '') ?? [];
    const known = titles[number] !== undefined;
    if (known && body !== '') titles[number] = (JSON.parse(body) as { title: string }).title;
    const title = titles[number];
    const answer = known
      ? {
          number: Number(number),
          title,
          html_url: `https://github.com/octo/app/issues/${number}`,
          state: 'open',
        }
      : { message: `Issue ${number} was not found` };
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'issues.csv'), text);
  await cp(new URL('../../examples/operations.js', import.meta.url), join(cwd, 'operations.mjs'));
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url, CQBATCH_TOKEN: 'secret' };
  return { ...server, titles, cwd, run: (...args: string[]) => cqbatch(args, { cwd, env }) };
}

test('operations of the user are planned, run, reported and undone, and named when they are not loaded', async () => {
  const text =
    'issue,title,old_title\nocto/app#12,Crash on start,App crashes\nocto/app#13,Typos,Typo\nocto/app#14,x,\n';
  const { cwd, run, ...server } = await issues({ 12: 'App crashes', 13: 'Typo' }, text);
  const own = ['--operations', './operations.mjs'];

  const plan = await run('plan', 'issues.csv', '--verbose', ...own);
  expect(plan.stdout).toContain(`PATCH ${server.url}/repos/octo/app/issues/12`);
  expect(await run('run', 'issues.csv', '--yes', '--run-id', 'r', ...own)).toMatchObject({ code: 1 });
  const report = await readCsv(join(cwd, '.cqbatch/runs/r'), 'report.csv');
  expect(report.map((row) => [row['issue'], row['_outcome'], row['_code'], row['_url']])).toEqual([
    ['octo/app#12', 'succeeded', 'OK', 'https://github.com/octo/app/issues/12'],
    ['octo/app#13', 'succeeded', 'OK', 'https://github.com/octo/app/issues/13'],
    ['octo/app#14', 'failed', 'NOT_FOUND', ''],
  ]);
  expect(server.titles).toEqual({ 12: 'Crash on start', 13: 'Typos' });

  expect(await run('undo', 'r', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Run r needs the operation update-issue, which is not built in'),
  });
  expect(await run('undo', 'r', '--yes', ...own)).toMatchObject({ code: 0 });
  expect(server.titles).toEqual({ 12: 'App crashes', 13: 'Typo' });
});

test('what one operation has read is the old value of an edit, which can be undone', async () => {
  const text = 'issue\nocto/app#12\nocto/app#13\n';
  const { cwd, run, ...server } = await issues({ 12: 'App crashes', 13: 'Typo' }, text);
  await cp(new URL('../../examples/read-issues.js', import.meta.url), join(cwd, 'read-issues.mjs'));
  const reading = ['--operations', './read-issues.mjs', '--run-id', 'read', '--yes'];
  expect(await run('run', 'issues.csv', ...reading)).toMatchObject({ code: 0 });
  const own = ['--operations', './operations.mjs'];
  const edit = ['--map', '_title=old_title', '--default', 'title=Closed', '--run-id', 'e', '--yes', ...own];
  expect(await run('run', '.cqbatch/runs/read/report.csv', ...edit)).toMatchObject({ code: 0 });
  expect(server.titles).toEqual({ 12: 'Closed', 13: 'Closed' });
  expect(await run('undo', 'e', '--yes', ...own)).toMatchObject({ code: 0 });
  expect(server.titles).toEqual({ 12: 'App crashes', 13: 'Typo' });
  const versions = server.seen.map(({ headers }) => headers['x-github-api-version']);
  expect(versions).toEqual(Array.from({ length: 6 }, () => '2022-11-28'));
});

test('each call of a row has the same key, and an answer to a repeated call leaves nothing unclear', async () => {
  const cwd = await temporaryFolder();
  const paid = new Map<string, string>();
  const server = await httpServer((response, { headers, body }) => {
    const key = String(headers['idempotency-key']);
    const isFirst = !paid.has(key);
    paid.set(key, body);
    // The answer to the first call of each row is lost.
    if (isFirst) response.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await writeFile(join(cwd, 'operations.mjs'), paying);
  await writeFile(join(cwd, 'pay.csv'), 'account,version\na,"""7"""\nb,\nc,"x\r\nX-Admin: 1"\n');
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url, CQBATCH_TOKEN: 'secret' };
  const own = ['--operations', './operations.mjs'];
  const args = ['run', 'pay.csv', ...own, '--run-id', 'p', '--skip-invalid', '--yes'];
  expect(await cqbatch(args, { cwd, env })).toMatchObject({ code: 1 });
  const report = await readCsv(join(cwd, '.cqbatch/runs/p'), 'report.csv');
  expect(report.map((row) => [row['account'], row['_outcome'], row['_attempts'], row['_unclear']])).toEqual([
    ['a', 'succeeded', '2', ''],
    ['b', 'succeeded', '2', ''],
    ['c', 'invalid', '0', ''],
  ]);
  expect(report[2]?.['_message']).toContain("the header if-match can't have the value");
  expect([...paid.values()].sort()).toEqual(['{"account":"a"}', '{"account":"b"}']);
  expect(server.seen.map(({ headers }) => headers['content-type'])).toEqual(
    server.seen.map(() => 'application/vnd.pay+json'),
  );
  expect(server.seen.filter(({ headers }) => headers['if-match'] === '"7"')).toHaveLength(2);
});

test.each([
  ['that has a syntax error', 'own.mjs', 'export default (\n  5 5', 'line 2: Unexpected number'],
  [
    'that imports what is not there',
    'own.mjs',
    "import x from 'none';",
    "Cannot find package 'none' imported",
  ],
  ['that fails', 'own.mjs', 'export default () => {\n  x();\n};', 'line 2: x is not defined'],
  ['that is not JavaScript', 'own.txt', '', "Node can't load this kind of file: pass JavaScript"],
])('a module %s is refused in one line, with its own line', async (_what, name, text, problem) => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'issues.csv'), 'issue\n');
  await writeFile(join(cwd, name), text);
  const plan = ['plan', 'issues.csv', '--operations', `./${name}`];
  const { code, stderr } = await cqbatchProcess(plan, { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: --operations \.\/own\.\w+: [^\n]+\n$/);
  expect(stderr).toContain(problem);
});
