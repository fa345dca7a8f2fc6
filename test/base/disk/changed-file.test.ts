import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { changeJsonFile } from '../../../src/base/disk/changed-file.ts';
import { readJsonFileIfAny } from '../../../src/base/disk/json-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const schema = z.object({ value: z.number() });

test('changes of a file follow each other: none is lost', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'file.json');
  const changes = Array.from({ length: 20 }, () =>
    changeJsonFile(path, schema, (before) => ({ value: (before?.value ?? 0) + 1 })),
  );
  await Promise.all(changes);
  expect(await readJsonFileIfAny(path, schema)).toEqual({ value: 20 });
  await changeJsonFile(path, schema, () => undefined);
  await expect(
    changeJsonFile(path, schema, () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await readJsonFileIfAny(path, schema)).toEqual({ value: 20 });
  expect(await readdir(folder)).toEqual(['file.json']);
});
