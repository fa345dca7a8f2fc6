import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isNewTarget, rememberUse } from '../../../../src/engine/run/record/targets.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const api = 'https://api.example.com';

test('an API is new until a run of the state folder has called it', async () => {
  const folder = await temporaryFolder();
  expect(await isNewTarget(folder, api)).toBe(true);
  await rememberUse(folder, api);
  expect(await isNewTarget(folder, api)).toBe(false);
  expect(await isNewTarget(folder, 'https://other.example.com')).toBe(true);
});

test('a damaged file is treated as missing', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'targets.json'), '{"version":1,"targets":[{}');
  expect(await isNewTarget(folder, api)).toBe(true);
  await rememberUse(folder, api);
  expect(await isNewTarget(folder, api)).toBe(false);
});
