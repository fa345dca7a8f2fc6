import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkStateFolder } from '../../../../src/engine/run/record/state-folder.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

test.each([
  ['state', 'STATE_DIR_UNUSABLE', ': name a folder with --state-dir.'],
  ['runs', 'PATH_UNUSABLE', ': correct them, then try again.'],
])('a link %s that leads to itself is refused with the remedy', async (name, code, remedy) => {
  const folder = await temporaryFolder();
  const link = join(folder, name);
  await symlink(name, link);
  await expect(checkStateFolder(name === 'runs' ? folder : link)).rejects.toMatchObject({
    code,
    message: `the symbolic links of ${link} lead in a circle${remedy}`,
  });
});
