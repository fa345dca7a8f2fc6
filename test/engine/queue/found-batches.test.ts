import type { Job } from 'bullmq';
import { expect, test } from 'vitest';
import type { RunBatchData } from '../../../src/engine/queue/batch-flow.ts';
import { findBatches } from '../../../src/engine/queue/found-batches.ts';

const fed: RunBatchData = { rows: [[1, 2]], bytes: 10 };
const collected: RunBatchData = { rows: [], collected: [[1, 2]], bytes: 0 };

test.each<[string, { data?: RunBatchData; isListed: boolean }, { inDatastore: number[]; traces: string[] }]>([
  ['is found in a list', { data: fed, isListed: true }, { inDatastore: [1, 2], traces: [] }],
  ['is found by its id', { data: fed, isListed: false }, { inDatastore: [1, 2], traces: [] }],
  ['leaves a trace in a list without its data', { isListed: true }, { inDatastore: [], traces: ['r-b-1'] }],
  [
    'leaves a trace when collected',
    { data: collected, isListed: false },
    { inDatastore: [], traces: ['r-b-1'] },
  ],
  ['that never arrived leaves none', { isListed: false }, { inDatastore: [], traces: [] }],
])('a batch that the journal names %s', async (_what, { data, isListed }, expected) => {
  const job = data && ({ id: 'r-b-1', data } as Job<RunBatchData, number>);
  const { batches, traces } = await findBatches(
    { runId: 'r', unsettled: new Set(['r-b-1']) },
    { getJob: async () => job, getRanges: async () => (isListed ? ['r-b-1'] : []) },
    { job: async () => undefined, listedIds: async () => new Set(), readLedger: async () => [] },
  );
  expect({ inDatastore: batches.flatMap(({ rows }) => rows), traces: [...traces] }).toEqual(expected);
});
