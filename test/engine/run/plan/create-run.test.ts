import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
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
