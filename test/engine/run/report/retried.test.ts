import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { laterRetries, retriedFacts } from '../../../../src/engine/run/report/retried.ts';
import { endedRetry, endedRun } from '../plan/ended-run.ts';

test('a run whose retry is done needs no more, unless the record of another run is damaged', async () => {
  const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;
  const { store, record } = await endedRun([{ evaluation_id: 1, user_id: 'u' }], { others: { 1: failed } });
  const factsAmong = async (runs?: readonly RunRecord[]) =>
    retriedFacts(store, record, await laterRetries(store, record, runs));
  expect(await factsAmong()).toEqual({});
  const retry = await endedRetry(store, record, {});
  expect(await factsAmong()).toEqual({ isCured: true });
  const halted = { ...retry, state: 'halted' as const };
  expect(await factsAmong([record, halted])).toEqual({ unfinishedRetry: halted });
  const { folder } = await store.create('other');
  await writeFile(join(folder, 'run.json'), '{');
  expect(await factsAmong()).toEqual({});
});
