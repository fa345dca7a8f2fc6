import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { onDisk } from '../system-error.ts';
import { ifThere, writeFileAtomically } from './files.ts';

/** To make code of a schema, as zod does of one that is used often, takes longer than to read a file with it. */
const readOnce = { jitless: true };

/**
 * Reads a JSON file that the program has written.
 *
 * @param damaged the error for a file that is no such JSON; undefined: it is worth no more than none
 * @returns undefined when there is none
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

/** The same of a file that is worth no more than none also when it can't be read. */
export function readJsonFileIfAny<Value>(path: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
  return readJsonFile(path, schema, () => undefined).catch(() => undefined);
}

/** Replaces it, so that it is whole whatever is killed. */
export function writeJsonFile(path: string, value: object): Promise<void> {
  return writeFileAtomically(path, `${JSON.stringify(value, null, 2)}\n`);
}
