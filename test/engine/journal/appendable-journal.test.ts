import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openJournal } from '../../../src/engine/journal/open.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test('an append ends when the disk has synced its bytes', async () => {
  const folder = await temporaryFolder();
  const journal = await openJournal(join(folder, 'journal.jsonl'), { runId: 'r1' });
  onTestFinished(() => journal.close());
  const handle = await open(join(folder, 'other'), 'w');
  await handle.close();
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
  onTestFinished(() => sync.mockRestore());
  let isSynced = false;
  sync.mockImplementationOnce(async () => {
    await Promise.resolve();
    isSynced = true;
  });
  await journal.append([{ type: 'settled' }]);
  expect(isSynced).toBe(true);
});
