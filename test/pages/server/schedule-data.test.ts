import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/daemon/schedule/schedule.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import { lastOccasions, lastRunsOf, occasionParts } from '../../../src/pages/server/schedule-data.ts';
import { endedRun, runData } from '../../helpers/run-data.ts';

const due = '2026-11-29T20:18:00.000Z';
const began: HistoryEntry = { due, result: 'began', at: due, runs: ['ok', 'gone'], refused: ['bad.csv'] };
const idle: HistoryEntry = { due, result: 'idle' };
const skipped: HistoryEntry = { due, result: 'skipped', because: 'nightly-1' };

test('a schedule shows its last occasion, and the last one with runs when others came since', () => {
  expect(lastOccasions([])).toEqual({ last: undefined, lastWithRuns: undefined });
  expect(lastOccasions([idle, began])).toEqual({ last: began, lastWithRuns: undefined });
  expect(lastOccasions([began, idle, skipped])).toEqual({ last: skipped, lastWithRuns: began });
  // Only refused files are no run.
  const onlyRefused: HistoryEntry = { ...began, runs: [] };
  expect(lastOccasions([began, onlyRefused])).toEqual({ last: onlyRefused, lastWithRuns: began });
});

test('the runs of the shown occasions are read, however old they are', () => {
  expect(lastRunsOf([began, idle])).toEqual(['ok', 'gone']);
  expect(lastRunsOf([idle])).toEqual([]);
});

test('an occasion with runs says how each ended, and which files were refused', () => {
  const counts = { ...noOutcomes(), succeeded: 97, failed: 3 };
  const ended = endedRun('ok', 'completed', due, { counts });
  expect(occasionParts(began, (id) => (id === 'ok' ? ended : undefined))).toEqual([
    { run: 'ok', text: '3 failed', kind: 'failed' },
    { run: 'gone', text: 'removed or damaged since' },
    { text: 'bad.csv refused', kind: 'failed' },
  ]);
  const [running] = occasionParts(began, () => runData());
  expect(running).toMatchObject({ text: 'running', kind: 'running' });
});

test.each<[entry: HistoryEntry, part: object]>([
  [idle, { text: 'the inbox was empty' }],
  [skipped, { text: 'skipped: nightly-1 was in progress' }],
  [{ due, result: 'skipped', because: 'paused' }, { text: 'skipped: the schedule was paused' }],
  [
    { due, result: 'missed', at: due },
    { text: 'missed: no daemon started it in time', kind: 'attention' },
  ],
  [
    { due, result: 'failed', at: due, code: 'X', message: 'nightly.csv is missing' },
    { text: 'failed: nightly.csv is missing', kind: 'failed' },
  ],
])('an occasion without runs says why: %j', (entry, part) => {
  expect(occasionParts(entry, () => undefined)).toEqual([part]);
});
