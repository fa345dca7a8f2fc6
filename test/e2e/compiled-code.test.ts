import { readdir } from 'node:fs/promises';
import module from 'node:module';
import { expect, test } from 'vitest';
import { cqbatchProcess } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';

const keepsCode = 'enableCompileCache' in module;

test('from Node 22.8 on, a start takes compiled code from the cache: that of the command, and of the datastore in its thread', async () => {
  const { cwd, env } = await newHome(2, [], {});
  const cache = await temporaryFolder();
  const start = () =>
    cqbatchProcess(['run', 'rows.csv', '--yes'], {
      cwd,
      env: { ...env, XDG_CACHE_HOME: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
  expect(await start()).toMatchObject({ code: 0 });
  // The service has restored the rows already.
  const { code, stderr } = await start();
  expect(code).toBe(1);
  for (const file of ['command-line', 'pglite/index'])
    expect(new RegExp(`${file}.* was accepted`).test(stderr)).toBe(keepsCode);
  expect(await readdir(cache)).toEqual(keepsCode ? ['cqbatch'] : []);
});
