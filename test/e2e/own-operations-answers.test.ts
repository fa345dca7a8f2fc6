import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt, cqbatch } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';
import { paying } from './paying-operation.ts';

/** Sends identifiers as numbers, which a service in JavaScript rounds. */
const restoringByNumber = `export default ({ defineOperation }) =>
  defineOperation({ name: 'restore-by-number',
    thing: 'evaluation',
    summary: 'Restore evaluations',
    fields: { evaluation_id: { type: 'integer', required: true } },
    subject: 'evaluation_id',
    request: ({ evaluation_id: id }) => ({
      path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',
      body: { evaluation_id: BigInt(id) },
    }),
    interpret: (body, id) => body.evaluation.evaluation_id + '' === id
      ? { ok: true, value: {} }
      : { ok: false, code: 'ANSWER_ID_MISMATCH', message: 'the answer is about ' + body.evaluation.evaluation_id },
    columns: {},
    repeatable: true,
  });
`;

test('the first answer for another entry halts the run, and a resume calls the other rows', async () => {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox('--numbers', 'rounded', '--evaluations', '9223372036854775807');
  await writeFile(join(cwd, 'operations.mjs'), restoringByNumber);
  await writeFile(join(cwd, 'ids.csv'), 'evaluation_id\n1\n9007199254740993\n2\n3\n');
  const env = { ...asUsersHaveIt, ...anyDatastore(), ...sandbox.env };
  const own = ['--operations', './operations.mjs', '--yes'];
  const args = ['run', 'ids.csv', ...own, '--operation', 'restore-by-number', '--run-id', 'n'];
  expect(await cqbatch([...args, '--concurrency', '1'], { cwd, env })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('row 2 (the answer is about 9007199254740992)'),
  });
  expect(await cqbatch(['resume', 'n', ...own], { cwd, env })).toMatchObject({ code: 1 });
  const report = await readCsv(join(cwd, '.cqbatch/runs/n'), 'report.csv');
  expect(report.map((row) => [row['_code'], row['_unclear'], row['_attempts']])).toEqual([
    ['OK', '', '1'],
    ['ANSWER_ID_MISMATCH', 'yes', '1'],
    ['OK', '', '1'],
    ['OK', '', '1'],
  ]);
  expect((await sandbox.log()).map(({ id }) => id)).toEqual(['1', '9007199254740992', '2', '3']);
});

test('a retry and a later run send a row that may have been processed with its key', async () => {
  const cwd = await temporaryFolder();
  const paid = new Map<string, string>();
  let drops = 2;
  const server = await httpServer((response, { headers, body }) => {
    paid.set(String(headers['idempotency-key']), body);
    // No answer comes for the account b, until the third run.
    if (body.includes('"b"') && drops-- > 0) response.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await writeFile(join(cwd, 'operations.mjs'), paying);
  await writeFile(join(cwd, 'pay.csv'), 'account\na\nb\n');
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url, CQBATCH_TOKEN: 'secret' };
  const run = (...args: string[]) =>
    cqbatch([...args, '--operations', './operations.mjs', '--yes'], { cwd, env });
  expect(await run('run', 'pay.csv', '--run-id', 'p', '--attempts', '1')).toMatchObject({ code: 1 });
  await run('retry', 'p', '--run-id', 'q');
  const { stderr } = await run('run', 'pay.csv', '--skip-done', 'p', '--run-id', 'r');
  expect(stderr).toContain(
    'run q may have done 1 of these rows (first: row 2, line 3): sent with the Idempotency-Key',
  );
  expect([...paid.values()].sort()).toEqual(['{"account":"a"}', '{"account":"b"}']);
  const [, b] = await readCsv(join(cwd, '.cqbatch/runs/r'), 'report.csv');
  expect(b).toMatchObject({ _code: 'OK', _unclear: '' });
});

test('errors of GraphQL, in answers 200, are repeated, slow the run, or fail their rows, by their codes', async () => {
  const once: Record<string, string> = { b: 'BUSY', t: 'THROTTLED' };
  const always: Record<string, string> = { n: 'NOT_FOUND', i: 'BAD_USER_INPUT', x: 'SURPRISE' };
  const renamed: string[] = [];
  const server = await httpServer((response, { body }) => {
    const { id } = (JSON.parse(body) as { variables: { id: string } }).variables;
    const code = once[id] ?? always[id];
    delete once[id];
    if (code === undefined) renamed.push(id);
    const answer =
      code === undefined
        ? { data: { renameUser: { id, name: 'N' } } }
        : { data: null, errors: [{ message: `because of ${code}`, extensions: { code } }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const cwd = await temporaryFolder();
  await cp(new URL('../../examples/graphql.js', import.meta.url), join(cwd, 'graphql.mjs'));
  await writeFile(join(cwd, 'users.csv'), `id,name\n${[...'abtnix'].map((id) => `${id},N\n`).join('')}`);
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url, CQBATCH_TOKEN: 'secret' };
  const args = ['run', 'users.csv', '--operations', './graphql.mjs', '--run-id', 'g', '--yes'];
  expect(await cqbatch(args, { cwd, env })).toMatchObject({ code: 1 });
  const report = await readCsv(join(cwd, '.cqbatch/runs/g'), 'report.csv');
  expect(report.map((row) => [row['id'], row['_code'], row['_attempts'], row['_unclear']])).toEqual([
    ['a', 'OK', '1', ''],
    ['b', 'OK', '2', ''],
    ['t', 'OK', '2', ''],
    ['n', 'NOT_FOUND', '1', ''],
    ['i', 'INVALID_ARGUMENT', '1', ''],
    ['x', 'GRAPHQL_ERROR', '1', 'yes'],
  ]);
  expect(renamed.sort()).toEqual(['a', 'b', 't']);
});

/** Operations that name their caller in each way. */
const named = `const operation = (define, name, auth) => define({ name, auth,
  thing: 'call', summary: 'x', subject: 'id', columns: { said: ({ said }) => said }, repeatable: true,
  fields: { id: { type: 'identifier', required: true } },
  request: ({ id }) => ({ path: '/' + name + '/' + id }),
  interpret: (body) => ({ ok: true, value: Object(body) }),
});
export default ({ defineOperation: define }) => [
  operation(define, 'by-header', { header: 'X-Api-Key' }),
  operation(define, 'by-password', 'basic'),
  operation(define, 'by-nobody', 'none'),
];
`;

test('a key in a header, a password or nothing names the caller, and is shown nowhere', async () => {
  const secret = 'hans:geheim-7731';
  const basic = Buffer.from(secret).toString('base64');
  const server = await httpServer((response, { headers }) => {
    const said = `${headers['x-api-key'] ?? headers.authorization ?? 'no token'} geheim-7731`;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ said }));
  });
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'operations.mjs'), named);
  await writeFile(join(cwd, 'calls.csv'), 'operation,id\nby-header,1\nby-password,2\nby-nobody,3\n');
  const env = { ...asUsersHaveIt, ...anyDatastore(), CQBATCH_BASE_URL: server.url };
  const own = ['--operations', './operations.mjs', '--yes', '--save-responses'];
  const plan = await cqbatch(['plan', 'calls.csv', '-v', ...own.slice(0, 2)], { cwd, env });
  expect(plan.stdout).toContain('x-api-key: ********; accept');
  const args = ['run', 'calls.csv', ...own, '--run-id', 'a', '--concurrency', '1'];
  expect(await cqbatch(args, { cwd, env: { ...env, CQBATCH_TOKEN: secret } })).toMatchObject({ code: 0 });
  expect(server.seen.map(({ headers }) => [headers['x-api-key'], headers.authorization])).toEqual([
    [secret, undefined],
    [undefined, `Basic ${basic}`],
    [undefined, undefined],
  ]);
  const report = await readCsv(join(cwd, '.cqbatch/runs/a'), 'report.csv');
  expect(report.map((row) => row['_said'])).toEqual([
    '[token] [token]',
    'Basic [token] [token]',
    'no token [token]',
  ]);
  for (const entry of await readdir(cwd, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const content = await readFile(join(entry.parentPath, entry.name), 'latin1');
    for (const text of [secret, basic, 'geheim-7731']) expect(content.includes(text), entry.name).toBe(false);
  }

  // Without a token, only the operation that needs one halts.
  await writeFile(join(cwd, 'free.csv'), 'operation,id\nby-nobody,3\n');
  expect(await cqbatch(['run', 'free.csv', ...own], { cwd, env })).toMatchObject({ code: 0 });
  expect(await cqbatch(['run', 'calls.csv', ...own], { cwd, env })).toMatchObject({
    stderr: expect.stringContaining('The access token is missing: this operation needs one'),
  });
});

test('commands that only look run no module that the state folder names', async () => {
  const { cwd, run, write } = await newHome(2);
  expect(await run('run', 'rows.csv', '--yes', '--run-id', 'r')).toMatchObject({ code: 0 });
  await write(
    'loaded.mjs',
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(join(cwd, 'ran'))}, '');\nexport default () => [];`,
  );
  await write('.cqbatch/config.json', JSON.stringify({ operations: join(cwd, 'loaded.mjs') }));
  const looks = [
    ['list'],
    ['show'],
    ['show', '--row', '1'],
    ['status'],
    ['verify'],
    ['report'],
    ['prune', '--keep-last', '0', '--yes'],
  ];
  for (const look of looks) expect(await run(...look), look.join(' ')).toMatchObject({ code: 0 });
  await expect(stat(join(cwd, 'ran'))).rejects.toThrow('ENOENT');
  await run('plan', 'rows.csv');
  await stat(join(cwd, 'ran'));
});
