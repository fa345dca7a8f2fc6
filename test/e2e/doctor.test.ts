import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('doctor finds no problem where a run can start, and changes nothing', async () => {
  const { cwd, env, sandbox, code, found, stateOf } = await examined();
  expect({ code, found }).toMatchObject({ code: 0, found: { ok: true } });
  for (const check of ['Node', 'state folder', 'disk', 'settings', 'API', 'token', 'clock'])
    expect(stateOf(check), check).toEqual(['ok']);
  expect((await sandbox.log()).map(({ committed }) => committed)).toEqual([false]);
  expect((await cqbatch(['doctor'], { cwd, env })).stdout).toMatch(/^ok +token +is accepted$/m);
});

test.each([
  ['TOKEN', '', 2, 'token', 'set CQBATCH_TOKEN'],
  ['TOKEN', 'not-the-right-one', 4, 'token', 'rejected the token'],
  ['BASE_URL', 'http://127.0.0.1:1', 4, 'API', 'refuses connections'],
  ['QUEUE', 'redis://127.0.0.1:1', 4, 'datastore', 'start Redis there'],
  ['RATE', 'fast', 2, 'settings', 'CQBATCH_RATE "fast"'],
])('doctor says what is wrong with CQBATCH_%s=%s', async (variable, value, exitCode, check, text) => {
  const { code, failed, stdout, stderr } = await examined({ [`CQBATCH_${variable}`]: value });
  expect({ code, failed }).toMatchObject({
    code: exitCode,
    failed: [{ check, text: expect.stringContaining(text) }],
  });
  expect(stdout + stderr).not.toContain('not-the-right-one');
});

test.each([
  // The header has whole seconds, and the answer takes its time.
  [-3_600_000, 'warning', /^is 1 h\b.* ahead of that of the API/],
  [3_600_000, 'warning', /^is (?:1 h|59 min \d+ s) behind that of the API/],
])('doctor compares the clock with that of the API: %d ms', async (aheadMs, state, text) => {
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
  ['the operation', 400, '{"code":3,"message":"evaluation_id is missing","details":[]}', 'ok'],
])('doctor says what the answer proves of the token: that of %s', async (_title, status, body, state) => {
  const { url } = await httpServer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  const { code, stateOf } = await examined({ CQBATCH_BASE_URL: url });
  expect(code).toBe(0);
  expect({ API: stateOf('API'), token: stateOf('token') }).toEqual({ API: [state], token: [state] });
});

test('doctor says which path is wrong', async () => {
  const { url } = await httpServer((response) => void response.writeHead(404).end());
  const { code, failed } = await examined({ CQBATCH_BASE_URL: `${url}/prefix` });
  expect(code).toBe(4);
  const text = expect.stringMatching(
    /\/prefix\/api\/\S+ answers 404: .* check the base URL .* and its path prefix/,
  );
  expect(failed).toMatchObject([{ check: 'API', text }]);
});

test('doctor names the permission that a token lacks', async () => {
  const { url } = await httpServer((response) => void response.writeHead(403).end('{"message":"no"}'));
  const { failed } = await examined({ CQBATCH_BASE_URL: url });
  const text = expect.stringContaining('most likely PERMISSION_SCORECARDS_EVALUATE is missing');
  expect(failed).toMatchObject([{ check: 'token', text }]);
});

test('doctor names an invalid folder, and continues with the other checks', async () => {
  const { cwd, env } = await examined();
  await writeFile(join(cwd, 'file'), '');
  const { code, stdout } = await cqbatch(['doctor', '--state-dir', 'file'], { cwd, env });
  expect(code).toBe(2);
  expect(stdout).toMatch(/^failed +state folder +the state folder file is not a folder/m);
  expect(stdout).toMatch(/^ok +disk/m);
});

test('doctor changes nothing at the API of own operations, and does not send the token there', async () => {
  const server = await httpServer((response) => response.writeHead(404).end('Not Found'));
  const cwd = await temporaryFolder();
  await cp(new URL('../../examples/graphql.js', import.meta.url), join(cwd, 'graphql.mjs'));
  const env = { ...anyDatastore(), CQBATCH_BASE_URL: `${server.url}/v1`, CQBATCH_TOKEN: 'secret' };
  const { code, stdout } = await cqbatch(['doctor', '--operations', './graphql.mjs'], { cwd, env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ok +API +\S+ answers a GET with 404$/m);
  expect(stdout).toMatch(/^warning +token +is there, but was not sent/m);
  expect(server.seen.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['GET', '/v1/', undefined],
  ]);
});
