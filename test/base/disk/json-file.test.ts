import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readJsonFile, readJsonFileIfAny, writeJsonFile } from '../../../src/base/disk/json-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const schema = z.object({ value: z.number() });
const damaged = (cause: unknown): Error => new Error('damaged', { cause });

/** A file with that text; a folder when there is no text. */
async function fileWith(text: string | undefined): Promise<string> {
  const path = join(await temporaryFolder(), 'file.json');
  if (text === undefined) await mkdir(path);
  else await writeFile(path, text);
  return path;
}

describe('a JSON file', () => {
  test('contains what was written, and leaves no other file', async () => {
    const path = join(await temporaryFolder(), 'file.json');
    await writeJsonFile(path, { value: 1 });
    expect(await readJsonFile(path, schema, damaged)).toEqual({ value: 1 });
    expect(await readFile(path, 'utf8')).toBe('{\n  "value": 1\n}\n');
    expect(await readdir(join(path, '..'))).toEqual(['file.json']);
  });

  test('may begin with a byte order mark', async () => {
    const path = await fileWith('\ufeff{"value":1}');
    expect(await readJsonFile(path, schema, damaged)).toEqual({ value: 1 });
  });

  test.each(['', '{"value":', '{"value":"1"}', 'null'])('that holds %j is damaged', async (text) => {
    const path = await fileWith(text);
    await expect(readJsonFile(path, schema, damaged)).rejects.toThrow('damaged');
    expect(await readJsonFile(path, schema, () => undefined)).toBeUndefined();
    expect(await readJsonFileIfAny(path, schema)).toBeUndefined();
  });

  test('of another version is no damaged one, unless it may be treated as missing', async () => {
    const path = await fileWith('{"version":2,"values":[1]}');
    const versioned = z.object({ version: z.literal(1), value: z.number() });
    await expect(readJsonFile(path, versioned, damaged)).rejects.toMatchObject({
      code: 'FILE_VERSION',
      message: `${path} has version 2, which this version of cqbatch does not read: use the version that wrote it.`,
    });
    expect(await readJsonFileIfAny(path, versioned)).toBeUndefined();
    const incomplete = await fileWith('{"version":1}');
    await expect(readJsonFile(incomplete, versioned, damaged)).rejects.toThrow('damaged');
  });
});
