import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { asUsersHaveIt, finished, startCqbatch } from '../helpers/cqbatch.ts';
import { shapes } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';

/** The accident of the sandbox: 412 evaluations that u-17 deleted on one afternoon, of which 8 can't be recovered. */
const accident = ['--where', 'deleted_by=u-17', '--where', 'deleted_at>=2024-12-12T12:00'];
const asUsers = (...flags: readonly string[]) => newHome(0, flags, asUsersHaveIt);

const planned = async ({ run }: Awaited<ReturnType<typeof asUsers>>, ...args: readonly string[]) =>
  JSON.parse((await run('plan', ...args, '--json')).stdout) as object;

describe.each(shapes)('at a service in the shape %s', (shape) => {
  // Connect leaves out zero values, so that false is not told from unknown.
  const saysFalse = shape !== 'connect';
  test.each(['csv', 'tsv', 'jsonl', 'xlsx'])(
    'deleted evaluations in %s are planned with no option but the user',
    async (format) => {
      const home = await asUsers('--shape', shape);
      const file = `evaluations.${format}`;
      const { code, stdout } = await home.run('export', 'deleted-evaluations', ...accident, '--out', file);
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(saysFalse ? ' listed, 404 chosen, ' : ' listed, 412 chosen, '),
      });
      if (saysFalse) expect(stdout).toContain('8 left out (is not recoverable: 8).');
      expect(stdout).toContain(`Wrote ${file}. Next: cqbatch plan ${file} --user-id ID\n`);
      expect(await planned(home, file, '--user-id', 'u-1')).toMatchObject({
        ready: true,
        callable: saysFalse ? 404 : 412,
      });
      const log = await home.sandbox.log();
      expect(new Set(log.map(({ operation }) => operation))).toEqual(new Set(['list-evaluations']));
    },
  );

  test('evaluations that can be recovered are chosen in any case', async () => {
    const home = await asUsers('--shape', shape);
    const { stdout } = await home.run(
      'export',
      'deleted-evaluations',
      ...accident,
      '--where',
      'is_recoverable=true',
      '--out',
      'x.csv',
    );
    expect(stdout).toContain(' listed, 404 chosen, ');
  });

  test('soundboard entries are planned as they are', async () => {
    const home = await asUsers('--shape', shape, '--soundboards', '120');
    for (const format of ['csv', 'tsv', 'jsonl', 'xlsx']) {
      const { code, stdout } = await home.run('export', 'soundboards', '--out', `all.${format}`, '--json');
      expect({ code, document: JSON.parse(stdout) }).toMatchObject({
        code: 0,
        document: { list: 'soundboards', operation: 'update-soundboard', listed: 120, chosen: 120 },
      });
      const plan = await planned(home, `all.${format}`, '--allow-partial');
      expect(plan, format).toMatchObject({ ready: true, callable: 120, invalid: 0, warnings: [] });
    }
  });
});

test('the accident of the sandbox is exported, restored, and gone from the list', async () => {
  const { run } = await asUsers();
  await run('export', 'deleted-evaluations', ...accident, '--out', 'evaluations.csv');
  expect(await run('run', 'evaluations.csv', '--user-id', 'u-1', '--yes')).toMatchObject({ code: 0 });
  const again = await run('export', 'deleted-evaluations', ...accident, '--out', 'again.csv', '--json');
  expect(again.code).toBe(2);
  expect(JSON.parse(again.stdout)).toMatchObject({
    error: { code: 'NOTHING_TO_EXPORT', message: expect.stringContaining('(is not recoverable: 8)') },
  });
});

test('a file belongs to its user, is never replaced, and appears whole or not at all', async () => {
  const { cwd, run, sandbox } = await asUsers('--soundboards', '50');
  expect(await run('export', 'soundboards', '--out', 'all.csv')).toMatchObject({ code: 0 });
  expect((await stat(join(cwd, 'all.csv'))).mode & 0o777).toBe(0o600);
  const calls = (await sandbox.log()).length;
  expect(await run('export', 'soundboards', '--out', 'all.csv')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('all.csv already exists: remove it, or choose another name.'),
  });
  expect(await sandbox.log()).toHaveLength(calls);
  const names = await readdir(cwd);
  sandbox.configure({ fault: 'cut-body=100%' });
  const failed = await run('export', 'soundboards', '--out', 'other.csv', '--attempts', '2');
  expect(failed).toMatchObject({ code: 4, stderr: expect.stringContaining("Can't list the soundboards") });
  expect(await readdir(cwd)).toEqual(names);
});

test('standard output has only the entries', async () => {
  const { run } = await asUsers('--soundboards', '3');
  const { code, stdout, stderr } = await run('export', 'soundboards', '--out', '-');
  expect({ code, lines: stdout.split('\n') }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^soundboard_id,file_name,/),
      ...Array(3).fill(expect.stringMatching(/,yes$/)),
      '',
    ],
  });
  expect(stderr).toContain('Soundboards: 3 listed, 3 chosen.');
});

test.each([
  { title: 'without a file', args: ['soundboards'], text: 'The file is missing: pass --out NAME.csv' },
  {
    title: 'to another kind of file',
    args: ['soundboards', '--out', 'x.ods'],
    text: '--out "x.ods": write NAME.csv, NAME.tsv',
  },
  {
    title: 'of an unknown list',
    args: ['soundboard', '--out', 'x.csv'],
    text: 'No operation lists "soundboard": do you mean soundboards?',
  },
  {
    title: 'of two documents',
    args: ['soundboards', '--out', '-', '--json'],
    text: '--json and --out - exclude each other',
  },
  {
    title: 'by an unknown column',
    args: ['soundboards', '--out', 'x.csv', '--where', 'a=1'],
    text: 'the list soundboards has no column "a"',
  },
  {
    title: 'of nothing',
    args: ['soundboards', '--out', 'x.csv', '--where', 'title=none'],
    text: 'If that is right, pass --allow-empty.',
  },
])('an export $title is refused', async ({ args, text }) => {
  const { run, cwd } = await asUsers('--soundboards', '3');
  expect(await run('export', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
  expect(await readdir(cwd)).not.toContain('x.csv');
});

test('an empty list gives an empty file if that is allowed', async () => {
  const { run, cwd } = await asUsers('--soundboards', '0');
  const { stderr } = await run('export', 'soundboards', '--out', 'x.csv');
  expect(stderr).toContain('There is nothing to export. The service lists no soundboards.');
  expect(await run('export', 'soundboards', '--out', 'x.csv', '--allow-empty')).toMatchObject({ code: 0 });
  expect((await readFile(join(cwd, 'x.csv'), 'utf8')).split('\n')).toHaveLength(2);
});

test.each([
  { lists: 'forbidden', text: 'PERMISSION_SCORECARDS_EVALUATE' },
  { lists: 'missing', text: 'This service does not list deleted evaluations' },
  { lists: 'balancer', text: 'default backend - 404' },
])('a service whose lists are $lists is told', async ({ lists, text }) => {
  const { run } = await asUsers('--lists', lists);
  expect(await run('export', 'deleted-evaluations', '--out', 'x.csv')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(text),
  });
});

test('a list that changes while it is read is told', async () => {
  const { run } = await asUsers('--changing', '--evaluations', '4000');
  const { code, stderr } = await run('export', 'deleted-evaluations', '--out', 'x.csv');
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('has changed while it was read'),
  });
});

test('refused calls wait as the service asks, also in the middle', async () => {
  const { run, sandbox } = await asUsers('--evaluations', '3000', '--fault', '429=40%');
  const { code, stdout } = await run('export', 'deleted-evaluations', '--out', 'x.csv', '--json');
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, listed_twice: 0 });
  const calls = (await sandbox.log()).map(({ status, time }) => ({ status, at: Date.parse(time) }));
  const refused = calls.flatMap(({ status }, index) => (status === 429 ? [index] : []));
  expect(refused.at(-1)).toBeGreaterThan(calls.findIndex(({ status }) => status === 200));
  // "Retry-After: 1", less what two clocks may differ by.
  const waits = refused.map((index) => (calls[index + 1]?.at ?? 0) - (calls[index]?.at ?? 0));
  expect(waits.filter((ms) => ms < 990)).toEqual([]);
});

test('Ctrl-C ends an export at once, and leaves no file', async () => {
  const home = await asUsers();
  const server = await httpServer((response) => {
    response.writeHead(200).write('{"soundboards":[{"soundboard_id":1},');
  });
  const env = { ...home.options.env, CQBATCH_BASE_URL: server.url };
  const child = startCqbatch(['export', 'soundboards', '--out', 'x.csv'], { cwd: home.cwd, env });
  const end = finished(child);
  await expect.poll(() => server.seen.length).toBe(1);
  child.kill('SIGINT');
  expect(await end).toMatchObject({ code: 130, stderr: expect.stringContaining('Interrupted.') });
  expect((await readdir(home.cwd)).filter((name) => /x\.csv|tmp/.test(name))).toEqual([]);
});

test('an operation of the user is exported by its own list, and the next command names it', async () => {
  const home = await asUsers();
  const server = await httpServer((response) => void response.end('{"issues":[{"id":7,"state":"open"}]}'));
  const own = (
    name: string,
    list: string,
  ) => `defineOperation({ name: '${name}', thing: 'issue', summary: 's',
    fields: { issue: { type: 'integer', required: true }, by: { type: 'text', required: true } }, subject: 'issue',
    request: () => ({ path: '/' }), interpret: () => ({ ok: true, value: {} }), columns: {}, repeatable: true, ${list} })`;
  const list = `list: { name: 'issues', request: () => ({ method: 'GET', path: '/issues' }), entries: 'issues',
    read: ({ id, ...rest }) => ({ issue: id, ...rest }), fields: ['issue'], columns: { state: ({ state }) => state } }`;
  const module = `export default ({ defineOperation }) => [${own('close-issue', list)}, ${own('open-issue', '')}];`;
  await writeFile(join(home.cwd, 'own.mjs'), module);
  const args = [
    'export',
    'issues',
    '--operations',
    './own.mjs',
    '--base-url',
    server.url,
    '--out',
    'issues.csv',
  ];
  expect(await home.run(...args)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      `Next: cqbatch plan --operations ./own.mjs --base-url ${server.url} issues.csv --operation close-issue --default "by=VALUE"`,
    ),
  });
  expect(await readFile(join(home.cwd, 'issues.csv'), 'utf8')).toBe(
    '\ufeffissue,state,_guarded\n7,open,yes\n',
  );
});
