import { randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../disk/files.ts';
import { onDisk } from '../../system-error.ts';

/**
 * What tells a state folder from every other one, on whatever machine and at whatever path it is seen: drawn when it is
 * asked for first, and kept in it.
 */
export async function stateId(stateDir: string): Promise<string> {
  await makeFolder(stateDir);
  const path = join(stateDir, 'id');
  return onDisk(path, async () => (await read(path)) ?? (await draw(path)));
}

/** Whoever else draws one at the same time gets the same: the first that is in its place. */
async function draw(path: string): Promise<string> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    await file.writeFile(`${randomUUID()}\n`).finally(() => file.close());
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
  return (await read(path)) ?? '';
}

/** Undefined when there is none. */
async function read(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.trim() || undefined;
}
