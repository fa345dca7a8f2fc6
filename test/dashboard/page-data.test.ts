import { expect, test } from 'vitest';
import { type RunData, stateOf } from '../../src/dashboard/page-data.ts';
import { noOutcomes } from '../../src/domain.ts';

const run: RunData = {
  id: 'r',
  state: 'running',
  ended: false,
  manifest: 'rows.csv',
  baseUrl: 'https://api.example.com',
  rows: 100,
  done: 0,
  counts: noOutcomes(),
  throughput: undefined,
  wantedRate: 'auto',
  isElsewhere: false,
};
const completed = { ...run, state: 'completed', ended: true };

test.each([
  ['a run that calls rows', run, 'running', 'running'],
  ['an API that is away', { ...run, waiting: 'away' }, 'waiting', 'waiting'],
  ['a paused run', { ...run, state: 'paused', waiting: 'until' }, 'paused', 'paused'],
  ['success', { ...completed, counts: { ...run.counts, succeeded: 100 } }, 'completed', 'completed'],
  [
    'failures',
    { ...completed, counts: { ...run.counts, succeeded: 20, failed: 78, invalid: 2 } },
    'completed, 80 failed',
    'failed',
  ],
] as const)('the state of a run tells of %s', (_title, data, text, kind) => {
  expect(stateOf(data)).toEqual({ text, kind });
});
