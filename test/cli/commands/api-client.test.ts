import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { estimatedLimits, needsCommand, tokenSource } from '../../../src/cli/commands/api-client.ts';
import { tokenMark } from '../../../src/engine/api/token/token.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const terminal = { warn() {} };

test('all that call the API for one command share the runs of its token command', async () => {
  const print = "process.stdout.write('token-' + process.pid)";
  const settings = { tokenCommand: [process.execPath, '-e', print] };
  expect(needsCommand(settings)).toBe(true);
  const first = tokenSource({ settings, terminal });
  expect(needsCommand(settings)).toBe(false);
  const token = await first.current();
  expect(await tokenSource({ settings: { ...settings, wait: 1 }, terminal }).current()).toBe(token);
  const other = { tokenCommand: [...settings.tokenCommand] };
  expect(await tokenSource({ settings: other, terminal }).current()).not.toBe(token);
});

test('what is learned about limits belongs to the token as it is renewed', async () => {
  const stateDir = await temporaryFolder();
  let token = 'first';
  const source = { current: async () => token, refresh: async () => token };
  const limits = await estimatedLimits({ stateDir }, { baseUrl: 'https://api.example.com' }, source);
  await limits?.save({ limit: 10 });
  token = 'second';
  expect(await limits?.load()).toEqual({});
  await limits?.save({ limit: 20 });
  const file = JSON.parse(await readFile(join(stateDir, 'limits.json'), 'utf8'));
  expect(file.limits).toMatchObject([
    { token: tokenMark('first'), rate_per_s: 10 },
    { token: tokenMark('second'), rate_per_s: 20 },
  ]);
  // At the end of a run, the token need not be there any more.
  source.current = () => Promise.reject(new Error('away'));
  expect(await limits?.load()).toEqual({ limit: 20 });
  expect(await estimatedLimits({ stateDir }, { baseUrl: 'https://api.example.com' }, source)).toBeUndefined();
});
