import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Unpacks the release before this one, until the test ends. Its PostgreSQL is that of this build.
 *
 * @returns its program
 */
export async function releaseBefore(): Promise<string> {
  const folder = await temporaryFolder();
  execFileSync('tar', ['xzf', join(root, 'test/fixtures/releases/before.tar.gz'), '--directory', folder]);
  for (const part of ['dist/bin/pglite', 'dist/template.tar'])
    await symlink(join(root, part), join(folder, part));
  return join(folder, 'dist/bin/cqbatch.js');
}
