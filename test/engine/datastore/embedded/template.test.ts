import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureDatabase } from '../../../../src/engine/datastore/embedded/template.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

test('an empty folder that another can’t replace, as one behind a link, is left to PGlite', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'volume'));
  await symlink('volume', join(folder, 'queue'));
  await ensureDatabase(join(folder, 'queue'));
  expect(await readdir(join(folder, 'volume'))).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual(['queue', 'volume']);
});
