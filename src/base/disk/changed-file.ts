import { resolve } from 'node:path';
import type { z } from 'zod';
import { turns } from '../async/waiting.ts';
import { BusyError } from '../errors/errors.ts';
import { readJsonFileIfAny, writeJsonFile } from './json-file.ts';
import { lockPath, lockPatiently } from './lock.ts';

const inTurn = turns();

/** How long to wait for other processes, each of which holds the lock for a few milliseconds. */
const patienceMs = 30_000;

/**
 * Changes a JSON file. Changes take place one after the other, those of other processes, too, so none is lost.
 *
 * @param change gets undefined for a missing or damaged file; to leave the file as it is, it returns undefined
 * @throws a busy error `FILE_LOCKED` when other processes hold the file for half a minute
 */
export function changeJsonFile<Value extends object>(
  path: string,
  schema: z.ZodType<Value>,
  change: (current: Value | undefined) => Value | undefined,
): Promise<void> {
  return inTurn(resolve(path), async () => {
    // Most changes change nothing: these need no lock.
    if (change(await readJsonFileIfAny(path, schema)) === undefined) return;
    const lock = await lockPatiently(patienceMs, () =>
      lockPath({ path, purpose: 'a change', taken: takenBy(path) }),
    );
    try {
      const after = change(await readJsonFileIfAny(path, schema));
      if (after !== undefined) await writeJsonFile(path, after);
    } finally {
      await lock.release();
    }
  });
}

const takenBy = (path: string) => (who: string) =>
  new BusyError('FILE_LOCKED', `${who} changes ${path}`, 'Try again in a moment.');
