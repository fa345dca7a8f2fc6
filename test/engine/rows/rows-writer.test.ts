import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { RowsWriter } from '../../../src/engine/rows/rows-writer.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { callable } from './decided-rows.ts';
import { someFacts, writeRows } from './written-rows.ts';

vi.mock('node:fs/promises', { spy: true });

test('an unfinished file of rows is removed even if its disk fails when it is closed', async () => {
  const folder = await temporaryFolder();
  const writer = new RowsWriter(join(folder, 'rows.jsonl'));
  await writer.add({ ...callable, row: 1 }, ['x'.repeat(300_000)]);
  expect(await readdir(folder)).toEqual(['rows.jsonl.part']);
  const file = vi.mocked(open).mock.settledResults.at(-1)?.value as FileHandle;
  const close = file.close.bind(file);
  const closing = vi.spyOn(file, 'close').mockImplementationOnce(async () => {
    await close();
    throw Object.assign(new Error('EIO: i/o error, close'), { code: 'EIO' });
  });
  await writer.discard();
  expect(closing).toHaveBeenCalledOnce();
  expect(await readdir(folder)).toEqual([]);
});

test('the head is written in the order of its schema, whatever the order of what it is given', async () => {
  const folder = await temporaryFolder();
  const derived = { derived: { as: 'undo', of: 'r' } } as const;
  const compared = { compared: [{ list: 'soundboards', listed: 1, read_at: someFacts.made_at }] };
  const texts = [
    { ...derived, ...compared },
    { ...compared, ...derived },
  ].map(async (facts, at) => {
    await writeRows(join(folder, `${at}.jsonl`), [{ ...callable, row: 1 }], facts);
    return readFile(join(folder, `${at}.jsonl`), 'utf8');
  });
  const [one, other] = await Promise.all(texts);
  expect(one).toBe(other);
});
