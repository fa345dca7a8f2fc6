import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { onDisk } from '../system-error.ts';
import { ifThere, writeFileAtomically } from './files.ts';

/** Compiling a schema, as zod does for one that is used often, takes longer than reading a file with it. */
const readOnce = { jitless: true };

/**
 * Reads a JSON file that the program has written.
 *
 * @param damaged the error for a file without such JSON; undefined: treat it as missing
 * @returns undefined when there is no file
 * @throws what `damaged` makes of its cause, or a system error
 */
export async function readJsonFile<Value>(
  path: string,
  schema: z.ZodType<Value>,
  damaged: (cause: unknown) => Error | undefined,
): Promise<Value | undefined> {
  const text = await onDisk(path, () => ifThere(readFile(path, 'utf8')));
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text), readOnce);
  } catch (cause) {
    const error = damaged(cause);
    if (error === undefined) return undefined;
    throw error;
  }
}

/** Like `readJsonFile`, but treats a file that is damaged or can't be read as missing. */
export function readJsonFileIfAny<Value>(path: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
  return readJsonFile(path, schema, () => undefined).catch(() => undefined);
}

/** Replaces the file, so that it is whole whatever is killed. */
export function writeJsonFile(path: string, value: object): Promise<void> {
  return writeFileAtomically(path, `${JSON.stringify(value, null, 2)}\n`);
}
