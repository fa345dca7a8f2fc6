import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findEarlierRun } from '../../../../src/engine/run/plan/earlier-runs.ts';
import { journalPath } from '../../../../src/engine/run/record/run-journal.ts';
import { endedRun } from './ended-run.ts';

test('an earlier run whose journal is damaged is named without counts', async () => {
  const { store, record } = await endedRun([{ evaluation_id: 1, user_id: 'u' }], { state: 'halted' });
  const { manifest, options } = record;
  const find = () => findEarlierRun(store, manifest.sha256, options.baseUrl);
  expect(await find()).toMatchObject({ id: record.id, counts: { succeeded: 1 } });
  await writeFile(journalPath(store.folder(record.id)), 'not a journal\n');
  expect(await find()).toMatchObject({ id: record.id, state: 'halted', rows: 1, counts: undefined });
});
