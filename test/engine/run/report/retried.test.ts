import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { retriedFacts } from '../../../../src/engine/run/report/retried.ts';
import { endedRetry, endedRun } from '../plan/ended-run.ts';

test('a run whose retry is done needs no more, unless the record of another run is damaged', async () => {
  const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;
  const { store, record } = await endedRun([{ evaluation_id: 1, user_id: 'u' }], { others: { 1: failed } });
  expect(await retriedFacts(store, record)).toEqual({});
  const retry = await endedRetry(store, record, {});
  expect(await retriedFacts(store, record)).toEqual({ isCured: true });
  const runs = [record, { ...retry, state: 'halted' as const }];
  expect(await retriedFacts(store, record, runs)).toEqual({ unfinishedRetry: retry.id });
  const { folder } = await store.create('other');
  await writeFile(join(folder, 'run.json'), '{');
  expect(await retriedFacts(store, record)).toEqual({});
});
