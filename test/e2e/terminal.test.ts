import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { deferred } from '../../src/base/async/waiting.ts';
import { cqbatchAtTerminal, finished, startAtTerminal, startCqbatch } from '../helpers/cqbatch.ts';
import { newHome } from './home.ts';

const green = '\u001b[32m';

/** A manifest of two rows of which one fails, and what runs it at a terminal, answering its question. */
async function prepared() {
  const home = await newHome('evaluation_id,user_id\n1,u\n50,u\n');
  const { cwd, env } = home;
  const runAtTerminal = (answer: string, more: Readonly<Record<string, string>> = {}) =>
    cqbatchAtTerminal(['run', 'rows.csv'], { cwd, env: { ...env, ...more } }, ['[y/N]', answer]);
  return { ...home, runAtTerminal };
}

test('Ctrl-C at the question gives exit code 130; nothing is sent, and no run remains', async () => {
  const { sandbox, runAtTerminal, json } = await prepared();
  const { code, stdout } = await runAtTerminal('\u0003');
  expect(stdout).toContain('Nothing was sent');
  expect(code).toBe(130);
  expect(await sandbox.log()).toEqual([]);
  expect(await json('list')).toEqual({ runs: [] });
});

test.each(['SIGTERM', 'SIGHUP'] as const)('so does %s', async (signal) => {
  const { cwd, env, sandbox, json } = await newHome('evaluation_id,user_id\n1,u\n50,u\n');
  const child = startAtTerminal(['run', 'rows.csv', '--run-id', 'r'], { cwd, env });
  const ended = finished(child);
  for (let shown = ''; !shown.includes('[y/N]'); ) shown += (await once(child.stdout as Readable, 'data'))[0];
  const owner = await readFile(join(cwd, '.cqbatch', 'runs', 'r', 'owner.json'), 'utf8');
  process.kill(JSON.parse(owner).pid, signal);
  expect(await ended).toMatchObject({ code: 130, stdout: expect.stringContaining('Nothing was sent') });
  expect(await sandbox.log()).toEqual([]);
  expect(await json('list')).toEqual({ runs: [] });
});

test('SIGTERM gives exit code 130 also where a command neither asks nor calls rows', async () => {
  const { cwd, env } = await newHome(0);
  const asked = deferred<void>();
  const api = createServer(() => asked.resolve(undefined)).listen(0, '127.0.0.1');
  onTestFinished(() => void api.close().closeAllConnections());
  await once(api, 'listening');
  const { port } = api.address() as AddressInfo;
  const child = startCqbatch(['doctor', '--base-url', `http://127.0.0.1:${port}`], { cwd, env });
  const ended = finished(child);
  await asked.promise;
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 130, stderr: expect.stringContaining('Interrupted.') });
});

test.each([
  ['n', 2, 0],
  ['3', 1, 3],
])(
  'many requests are sent when their number is typed, which y does not replace: %s',
  async (answer, code, calls) => {
    const { cwd, sandbox, env } = await newHome('evaluation_id,user_id\n1,u\n2,u\n50,u\n');
    const options = { cwd, env: { ...env, CQBATCH_CONFIRM_ABOVE: '2' } };
    const ended = await cqbatchAtTerminal(
      ['run', 'rows.csv'],
      options,
      ['Type 3 to go on', 'y\n'],
      ['Type the number 3, or n', `${answer}\n`],
    );
    expect(ended.code).toBe(code);
    expect(await sandbox.log()).toHaveLength(calls);
  },
);

test.each([
  ['y\n', 1, 2, 'completed'],
  ['n\n', 3, 1, 'halted'],
  ['\u0003', 130, 1, 'interrupted'],
])(
  'the question after a canary is answered with %j: exit code %d',
  async (answer, expected, calls, state) => {
    const { sandbox, run, json, options } = await prepared();
    const { code, stdout } = await cqbatchAtTerminal(
      ['run', 'rows.csv', '--run-id', 'r', '--canary', '1'],
      options,
      ['Continue with the other 1 row? [y/N]', answer],
      ['[y/N]', 'y\n'],
    );
    expect(stdout).toMatch(/^ +1 {2}1 +.*succeeded.* OK/m);
    expect(code).toBe(expected);
    expect(await sandbox.log()).toHaveLength(calls);
    expect(await json('status')).toMatchObject({ state });
    // An unanswered question is asked again; without a terminal, the canary had no failures.
    if (state !== 'completed') expect((await run('resume')).code).toBe(1);
    expect(await sandbox.log()).toHaveLength(2);
  },
);

test('outcomes have colors and a bar at a terminal', async () => {
  const { stdout } = await (await prepared()).runAtTerminal('y\n');
  expect(stdout).toContain(`${green}1 succeeded`);
  expect(stdout).toContain(`${green}${'█'.repeat(20)}`);
});

test('outcomes have colors elsewhere with FORCE_COLOR only, and none with NO_COLOR', async () => {
  const { run, runWith } = await prepared();
  expect((await run('run', 'rows.csv', '--yes')).stdout).not.toContain('\u001b');
  const forced = await runWith({ FORCE_COLOR: '1' }, 'report');
  expect(forced.stdout).toContain(`${green}1 succeeded`);
  const { stdout } = await (await prepared()).runAtTerminal('y\n', { NO_COLOR: '1' });
  expect(stdout).toMatch(/█{20,}░{20,}/);
  expect(stdout).not.toMatch(/\p{Cc}\[[\d;]*m/u);
});

test('at a terminal, a list says once where all runs are, how long ago each started, and its state in color', async () => {
  const { options, run, sandbox } = await prepared();
  for (const id of ['one', 'two']) await run('run', 'rows.csv', '--yes', '--run-id', id);
  const { stdout } = await cqbatchAtTerminal(['list'], options);
  expect(stdout).toContain(`All at ${sandbox.url}.`);
  expect(stdout).toMatch(/^two +\p{Cc}\[32mcompleted\p{Cc}\[39m +\d+ (?:s|min) ago /mu);
  const { stdout: exact } = await cqbatchAtTerminal(['list', '--verbose'], options);
  expect(exact).toMatch(/^two .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/m);
  expect((await run('list')).stdout).toMatch(/^run +state +started +duration +done +failed +API +manifest\n/);
});
