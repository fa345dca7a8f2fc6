import { expect, test } from 'vitest';
import { verdictOf } from '../../../../src/engine/report/html/verdict.ts';
import { pageDataOf, type Reported } from './reported.ts';

const other = { name: 'o', thing: 'call', subject: 'id', columns: [] };

const ok = '2 succeeded OK';

test.each<[told: string, verdict: string, more?: Partial<Reported>]>([
  ['3 succeeded OK', 'good: All 3 evaluations restored.'],
  [ok, 'good: All 2 rows succeeded.', { operations: [other, { ...other, name: 'p', thing: 'entry' }] }],
  [`${ok}, 3 duplicate DUPLICATE, 4 skipped DONE_BEFORE`, 'good: All 2 evaluations restored.'],
  [
    `${ok}, 1 failed NOT_FOUND, 2 invalid INVALID_ROW`,
    'attention: 2 of 5 evaluations restored. 1 row failed, 2 are invalid.',
  ],
  [
    `${ok}, 1 failed NOT_FOUND, 3 duplicate DUPLICATE`,
    'attention: 2 evaluations restored, of 6 rows. 1 row failed.',
  ],
  ['2 failed NOT_FOUND', 'bad: 0 of 2 evaluations restored. 2 rows failed.'],
  [`${ok}, 1 invalid INVALID_ROW`, 'attention: 2 of 3 evaluations restored. 1 row is invalid.'],
  [
    '60 failed INTERNAL (54 unclear)',
    'bad: None of 60 evaluations confirmed as restored, 54 may have been. 60 rows failed.',
  ],
  [
    '6 failed INTERNAL (5 unclear), 4 not_attempted HALTED',
    'bad: Run halted: none of 10 rows confirmed as done, 5 may have been. 6 rows failed. 4 rows are left.',
    { run: { state: 'halted', manner: 'halted', phase: 'stopped' }, operations: [] },
  ],
  [
    '6 succeeded OK, 2 failed INTERNAL (1 unclear)',
    'attention: 6 of 8 evaluations restored, 1 more may have been. 2 rows failed.',
  ],
  [
    '6 succeeded OK, 2 failed INTERNAL (1 unclear)',
    'attention: 6 of 8 rows succeeded, 1 more may have. 2 rows failed.',
    { operations: [] },
  ],
  [`${ok} (1 unclear)`, 'attention: All 2 evaluations restored. 1 row is unclear.'],
  [
    `${ok}, 1 failed NOT_FOUND, 4 not_attempted HALTED`,
    'bad: Run halted: 2 of 7 evaluations restored. 1 row failed. 4 rows are left.',
    { run: { state: 'halted', manner: 'halted', phase: 'stopped' } },
  ],
  [
    `${ok}, 4 not_attempted HALTED`,
    'bad: Run gave up: 2 of 6 evaluations restored. 4 rows are left.',
    { run: { state: 'gave up', manner: 'gave up', phase: 'stopped' } },
  ],
  ['300 succeeded ALREADY_APPLIED', 'good: 0 of 300 evaluations restored, 300 were already restored.'],
  [
    '2 succeeded OK, 1 succeeded ALREADY_APPLIED',
    'good: 2 of 3 evaluations restored, 1 was already restored.',
  ],
  [
    `${ok}, 3 not_attempted INTERRUPTED, 1 pending PENDING`,
    'attention: Run interrupted: 2 of 6 evaluations restored. 4 rows are left.',
    { run: { state: 'interrupted', phase: 'stopped' } },
  ],
  [
    `${ok}, 4 not_attempted CANCELLED`,
    'attention: Run cancelled: 2 of 6 evaluations restored. 4 rows were not called.',
    { run: { state: 'cancelled', phase: 'ended' } },
  ],
  [
    `${ok}, 1 failed NOT_FOUND, 4 pending PENDING`,
    'working: 2 of 7 evaluations restored so far. 1 row failed.',
    { run: { state: 'running', phase: 'in progress' } },
  ],
])('of "%s" is "%s"', async (told, verdict, more = {}) => {
  const { tone, text } = verdictOf(await pageDataOf({ told, ...more }));
  expect(`${tone}: ${text}`).toBe(verdict);
});
