import { resolve } from 'node:path';
import type { z } from 'zod';
import { turnsByKey } from '../async/waiting.ts';
import { BusyError } from '../errors/errors.ts';
import { readJsonFileIfAny, writeJsonFile } from './json-file.ts';
import { lockPath, lockPatiently } from './lock.ts';

const changeInTurn = turnsByKey();

const patienceMs = 30_000;

/**
 * Makes one change after the other, across processes, so that none is lost.
 *
 * @param change gets undefined for a missing or damaged file, and returns undefined to leave the file as it is
 * @returns what `change` returned last
 * @throws a busy error `FILE_LOCKED` when other processes hold the file for half a minute
 */
export function changeJsonFile<Value extends object, After extends Value | undefined>(
  path: string,
  schema: z.ZodType<Value>,
  change: (current: Value | undefined) => After,
): Promise<After> {
  return changeInTurn(resolve(path), async () => {
    // Most calls change nothing and need no lock.
    const wanted = change(await readJsonFileIfAny(path, schema));
    if (wanted === undefined) return wanted;
    const lock = await lockPatiently(patienceMs, () =>
      lockPath({ path, purpose: 'a change', taken: takenBy(path) }),
    );
    try {
      const after = change(await readJsonFileIfAny(path, schema));
      if (after !== undefined) await writeJsonFile(path, after);
      return after;
    } finally {
      await lock.release();
    }
  });
}

const takenBy = (path: string) => (who: string) =>
  new BusyError('FILE_LOCKED', `${who} changes ${path}`, 'Try again in a moment.');
