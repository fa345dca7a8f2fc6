import { expect, test } from 'vitest';
import { cqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';

test.each([
  ['an unknown option', ['run', 'rows.csv', '--max-failure', '3'], '(Did you mean --max-failures?)'],
  ['an unknown command', ['resum'], '(Did you mean resume?)'],
  ['a missing manifest', ['run', 'nothing.csv', '--yes'], 'nothing.csv'],
  [
    'a folder in place of a file',
    ['run', '.', '--yes'],
    '.: this is a folder; pass a file, or run each manifest in it: cqbatch watch .',
  ],
  ['no terminal to ask on', ['run', 'rows.csv'], 'pass --yes'],
  [
    'plain http to another host',
    ['run', 'rows.csv', '--yes', '--base-url', 'http://example.com'],
    'insecure',
  ],
  ['an unknown run', ['status', '20260101-000000-aaaa'], 'There is no run 20260101-000000-aaaa'],
])('the exit code is 2 for %s; nothing is sent, and no run is made', async (_title, args, message) => {
  const { run, json, sandbox } = await newHome(3);
  const { code, stderr } = await run(...args);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
  expect(await sandbox.log()).toEqual([]);
  expect(await json('list')).toEqual({ runs: [] });
});

test('the exit code is 2 when there is no token', async () => {
  const { cwd, sandbox } = await newHome(3);
  const env = { CQBATCH_BASE_URL: sandbox.url };
  const { code, stderr } = await cqbatch(['run', 'rows.csv', '--yes'], { cwd, env });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('CQBATCH_TOKEN') });
});

test.each([
  ['a wrong token', ['--token', 'another'], 'The API rejected the token'],
  ['a token without permission', ['--fault', '403=100%'], 'PERMISSION_DENIED'],
])(
  'the exit code is 4 for %s, on the first rows; the run can be resumed',
  async (_title, sandboxArgs, message) => {
    const { cwd, run } = await newHome(3, sandboxArgs);
    const { code, stderr } = await run('run', 'rows.csv', '--yes');
    expect(stderr).toContain(message);
    expect(code).toBe(4);
    expect(await readCsv(await newestRunFolder(cwd), 'not-attempted.csv')).toHaveLength(3);
    expect((await run('resume')).code).toBe(4);
  },
);
