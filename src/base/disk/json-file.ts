import { z } from 'zod';
import { fatalError } from '../errors/errors.ts';
import { onDisk } from '../errors/system-error.ts';
import { ifThere, replaceFile } from './files.ts';
import { readSmallFile } from './open-file.ts';

/** Compiling the schema takes longer than reading one file with it. */
const readOnce = { jitless: true };

/** The history of a schedule, and the states of a run that was paused for months, are far smaller. */
const mostBytes = 100_000_000;

/**
 * Reads a JSON file of this program.
 *
 * @param damaged makes the error for a file without such JSON; undefined: treat it as missing
 * @param place names the file in messages
 * @returns undefined when there is no file
 * @throws the error of `damaged`, a fatal error `FILE_VERSION` for another version, or a system error
 */
export async function readJsonFile<Value>(
  path: string,
  schema: z.ZodType<Value>,
  damaged: (cause: unknown) => Error | undefined,
  place = path,
): Promise<Value | undefined> {
  const text = await onDisk(place, () => ifThere(readSmallFile(path, mostBytes)));
  if (text === undefined) return undefined;
  let json: { readonly version?: unknown } | null = null;
  try {
    json = JSON.parse(text);
    return schema.parse(json, readOnce);
  } catch (cause) {
    if (typeof json?.version === 'number' && isAboutVersion(cause))
      throw fatalError(
        'FILE_VERSION',
        `${place} has version ${json.version}, which this version of cqbatch does not read: use the version that wrote it.`,
      );
    const error = damaged(cause);
    if (error === undefined) return undefined;
    throw error;
  }
}

function isAboutVersion(cause: unknown): boolean {
  return cause instanceof z.ZodError && cause.issues.some(({ path }) => path.join('.') === 'version');
}

/** Treats a damaged or unreadable file as missing. */
export function readJsonFileIfAny<Value>(path: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
  return readJsonFile(path, schema, () => undefined).catch(() => undefined);
}

export function writeJsonFile(path: string, value: object): Promise<void> {
  return onDisk(path, () => replaceJsonFile(path, value));
}

/** @throws the error of the system */
export function replaceJsonFile(path: string, value: object): Promise<void> {
  return replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
