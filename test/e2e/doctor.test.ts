import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

interface Found {
  readonly ok: boolean;
  readonly checks: readonly { readonly check: string; readonly state: string; readonly text: string }[];
}

/** What `cqbatch doctor` finds, with these variables besides those of a sandbox. */
async function examined(variables: Readonly<Record<string, string>> = {}, ...args: readonly string[]) {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox();
  const env = { ...sandbox.env, ...anyDatastore(), ...variables };
  const { code, stdout, stderr } = await cqbatch(['doctor', '--json', ...args], { cwd, env });
  const found = JSON.parse(stdout) as Found;
  const stateOf = (wanted: string) =>
    found.checks.filter(({ check }) => check === wanted).map(({ state }) => state);
  const failed = found.checks.filter(({ state }) => state === 'failed');
  return { cwd, env, sandbox, code, stdout, stderr, found, stateOf, failed };
}

describe('doctor', () => {
  test('finds no problem where a run can start, and changes nothing', async () => {
    const { cwd, env, sandbox, code, found, stateOf } = await examined();
    expect({ code, found }).toMatchObject({ code: 0, found: { ok: true } });
    for (const check of ['Node', 'state folder', 'disk', 'settings', 'API', 'token', 'clock'])
      expect(stateOf(check), check).toEqual(['ok']);
    expect((await sandbox.log()).map(({ committed }) => committed)).toEqual([false]);
    expect((await cqbatch(['doctor'], { cwd, env })).stdout).toMatch(/^ok +token +is accepted$/m);
  });

  test('reports a refused token without showing it', async () => {
    const { code, stdout, stderr, failed } = await examined({ CQBATCH_TOKEN: 'not-the-right-one' });
    expect(code).toBe(4);
    expect(failed).toMatchObject([{ check: 'token', text: expect.stringContaining('refuses the token') }]);
    expect(stdout + stderr).not.toContain('not-the-right-one');
  });

  test.each([
    ['the token', { CQBATCH_TOKEN: '' }, 2, ['token'], 'set CQBATCH_TOKEN'],
    ['a proxy that can be used', { HTTP_PROXY: 'socks5://127.0.0.1:1' }, 2, ['proxy'], 'SOCKS'],
    ['an API that answers', { CQBATCH_BASE_URL: 'http://127.0.0.1:1' }, 4, ['API'], 'refuses connections'],
    [
      'a datastore that answers',
      { CQBATCH_QUEUE: 'redis://127.0.0.1:1' },
      4,
      ['datastore'],
      'start Redis there',
    ],
    ['a setting that can be understood', { CQBATCH_RATE: 'fast' }, 2, ['settings'], 'CQBATCH_RATE "fast"'],
  ])('names the missing setting: %s', async (_title, variables, exitCode, checks, text) => {
    const { code, failed } = await examined({ ...variables });
    expect(failed.map(({ check }) => check)).toEqual(checks);
    expect(failed[0]?.text).toContain(text);
    expect(code).toBe(exitCode);
  });

  test.each([
    // The header has whole seconds, and the answer takes its time.
    [-3_600_000, 'warning', /^is 1 h\b.* ahead of that of the API/],
    [3_600_000, 'warning', /^is (?:1 h|59 min 5\d s) behind that of the API/],
    [0, 'ok', /agrees/],
  ])('compares the clock with that of the API: %d ms', async (aheadMs, state, text) => {
    const { url } = await httpServer((response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
      response.writeHead(400).end('{}');
    });
    const { code, found } = await examined({ CQBATCH_BASE_URL: url });
    expect(code).toBe(0);
    expect(found.checks.filter(({ check }) => check === 'clock')).toMatchObject([
      { state, text: expect.stringMatching(text) },
    ]);
  });

  test.each([
    ['a router that need not be one', 404, '{"message":"Not Found"}', 'warning'],
    ['a limit before the operation', 429, '{"message":"slow down"}', 'warning'],
    ['a proxy without words', 400, '', 'warning'],
    ['the operation', 400, '{"code":3,"message":"evaluation_id is missing","details":[]}', 'ok'],
  ])('says what the answer proves of the token: that of %s', async (_title, status, body, state) => {
    const { url } = await httpServer((response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    const { code, found, stateOf } = await examined({ CQBATCH_BASE_URL: url });
    expect(code).toBe(0);
    expect({ API: stateOf('API'), token: stateOf('token') }).toEqual({ API: [state], token: [state] });
    if (state === 'ok') return;
    expect(found.checks.find(({ check }) => check === 'API')?.text).toContain(`answers ${status}`);
    expect(found.checks.find(({ check }) => check === 'token')?.text).toMatch(/^could not be checked/);
  });

  test.each([
    ['a gateway', 404, '{"code":5,"message":"Not Found","details":[]}'],
    ['Connect', 404, ''],
  ])('says which path is wrong: a router of %s', async (_title, status, body) => {
    const { url } = await httpServer((response) => void response.writeHead(status).end(body));
    const { code, failed } = await examined({ CQBATCH_BASE_URL: `${url}/prefix` });
    expect(code).toBe(4);
    expect(failed).toMatchObject([
      {
        check: 'API',
        text: expect.stringMatching(
          /\/prefix\/api\/v1alpha1\/\S+restoreevaluation: .* check the base URL \(--base-url\) and its path prefix/,
        ),
      },
    ]);
  });

  test('names the permission that a token lacks', async () => {
    const { url } = await httpServer((response) => void response.writeHead(403).end('{"message":"no"}'));
    const { failed } = await examined({ CQBATCH_BASE_URL: url });
    expect(failed).toMatchObject([
      {
        check: 'token',
        text: expect.stringContaining('most likely PERMISSION_SCORECARDS_EVALUATE is missing'),
      },
    ]);
  });

  test('names an invalid folder, and continues with the other checks', async () => {
    const { cwd, env } = await examined();
    await writeFile(join(cwd, 'file'), '');
    const { code, stdout } = await cqbatch(['doctor', '--state-dir', 'file'], { cwd, env });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^failed +state folder +the state folder file is not a folder/m);
    expect(stdout).toMatch(/^ok +disk/m);
  });
});
