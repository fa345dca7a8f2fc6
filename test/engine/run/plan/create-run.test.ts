import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { createRun, discard } from '../../../../src/engine/run/plan/create-run.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

test('a run that cannot be planned says why, even if its folder cannot be removed', async () => {
  const stateDir = await temporaryFolder();
  const discard = () => Promise.reject(new Error('EBUSY: the folder is in use'));
  const store = { ...openRunStore(stateDir, operations), discard };
  const rows = manifestAt(join(stateDir, 'none.csv'));
  await expect(createRun(store, { rows, options: leastOptions })).rejects.toThrow('none.csv');
  expect(await store.list()).toEqual([]);
});

test('a run that was never started is discarded as far as the disk allows', async () => {
  const tried: string[] = [];
  const refuse = (what: string) => async () => {
    tried.push(what);
    throw new Error('EIO: i/o error');
  };
  await discard({ discard: refuse('folder') }, 'nightly', { close: refuse('journal') });
  expect(tried).toEqual(['journal', 'folder']);
});
