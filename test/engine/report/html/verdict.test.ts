import { expect, test } from 'vitest';
import { type Tone, verdictOf } from '../../../../src/engine/report/html/verdict.ts';
import { pageDataOf, type Reported } from './reported.ts';

const halted = { state: 'halted', phase: 'stopped' } as const;
const running = { state: 'running', phase: 'in progress' } as const;
const cancelled = { state: 'cancelled', phase: 'ended' } as const;
const interrupted = { state: 'interrupted', phase: 'stopped' } as const;
const other = { name: 'o', thing: 'call', subject: 'id', columns: [] };

test.each<readonly [Reported, Tone, string]>([
  [{ told: [[3, 'succeeded', 'OK']] }, 'good', 'All 3 evaluations restored.'],
  [{ told: [[1, 'succeeded', 'OK']] }, 'good', '1 evaluation restored.'],
  [{ told: [[2, 'succeeded', 'OK']], operations: [other] }, 'good', 'All 2 calls succeeded.'],
  [{ told: [[2, 'succeeded', 'OK']], operations: [other, other] }, 'good', 'All 2 calls succeeded.'],
  [
    { told: [[2, 'succeeded', 'OK']], operations: [other, { ...other, name: 'p', thing: 'entry' }] },
    'good',
    'All 2 rows succeeded.',
  ],
  [
    {
      told: [
        [2, 'succeeded', 'OK'],
        [3, 'duplicate', 'DUPLICATE'],
        [4, 'skipped', 'DONE_BEFORE'],
      ],
    },
    'good',
    'All 2 evaluations restored.',
  ],
  [
    {
      told: [
        [2, 'succeeded', 'OK'],
        [1, 'failed', 'NOT_FOUND'],
      ],
    },
    'attention',
    '2 of 3 evaluations restored. 1 row needs you.',
  ],
  [
    {
      told: [
        [2, 'succeeded', 'OK'],
        [1, 'failed', 'NOT_FOUND'],
        [2, 'invalid', 'INVALID_ROW'],
      ],
    },
    'attention',
    '2 of 5 evaluations restored. 3 rows need you.',
  ],
  [{ told: [[2, 'failed', 'NOT_FOUND']] }, 'bad', '0 of 2 evaluations restored. 2 rows need you.'],
  [{ told: [[2, 'succeeded', 'OK', 1]] }, 'attention', 'All 2 evaluations restored. 1 row is unclear.'],
  [
    {
      run: halted,
      told: [
        [2, 'succeeded', 'OK'],
        [1, 'failed', 'NOT_FOUND'],
        [4, 'not_attempted', 'HALTED'],
      ],
    },
    'bad',
    'Run halted: 2 of 7 evaluations restored. 1 row needs you. 4 rows are left.',
  ],
  [
    {
      run: interrupted,
      told: [
        [2, 'succeeded', 'OK'],
        [1, 'not_attempted', 'INTERRUPTED'],
      ],
    },
    'attention',
    'Run interrupted: 2 of 3 evaluations restored. 1 row is left.',
  ],
  [
    {
      run: cancelled,
      told: [
        [2, 'succeeded', 'OK'],
        [4, 'not_attempted', 'CANCELLED'],
      ],
    },
    'attention',
    'Run cancelled: 2 of 6 evaluations restored. 4 rows were not called.',
  ],
  [
    {
      run: running,
      told: [
        [2, 'succeeded', 'OK'],
        [1, 'failed', 'NOT_FOUND'],
        [4, 'not_attempted', 'PENDING'],
      ],
    },
    'working',
    '2 of 7 evaluations restored so far. 1 row needs you.',
  ],
  [{ told: [] }, 'good', '0 of 0 evaluations restored.'],
])('%j is %s: %s', async (reported, tone, text) => {
  expect(verdictOf(await pageDataOf(reported))).toEqual({ tone, text });
});
