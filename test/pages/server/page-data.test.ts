import { expect, test } from 'vitest';
import { noOutcomes } from '../../../src/domain/terms.ts';
import {
  asLastKnown,
  calledText,
  endedAt,
  failingText,
  figuresText,
  needsPerson,
  type RunData,
  type Snapshot,
  stateOf,
  waitText,
  withCountsOf,
} from '../../../src/pages/server/page-data.ts';

const run: RunData = {
  id: 'r',
  state: 'running',
  ended: false,
  manifest: 'rows.csv',
  startedAt: undefined,
  baseUrl: 'https://api.example.com',
  rows: 100,
  done: 0,
  counts: noOutcomes(),
  throughput: undefined,
  wantedRate: 'auto',
  priority: 'normal',
  because: undefined,
  wait: undefined,
};
const local = { states: [], steps: [], isShared: false, activeMs: 0 };
const until = '2026-11-21T22:10:00.000Z';
const completed = { ...run, state: 'completed', ended: true };

const counts = noOutcomes();
const away = { ...run, lastSeenAt: until };
const failures = { ...counts, succeeded: 20, failed: 78, invalid: 2 };

test.each([
  ['a run that calls rows', run, 'running', 'running'],
  ['an API that is away', { ...run, wait: { of: 'api', text: 'away', until: null } }, 'waiting', 'waiting'],
  ['a run that its datastore last told of', away, 'last seen running', 'waiting'],
  ['success', { ...completed, counts: { ...counts, succeeded: 100 } }, 'completed', 'completed'],
  ['failures', { ...completed, counts: failures }, '80 failed', 'failed'],
  ['unclear rows', { ...completed, local: { ...local, unclear: 20 } }, '20 unclear', 'attention'],
  [
    'failures and unclear rows',
    { ...completed, counts: failures, local: { ...local, unclear: 2 } },
    '80 failed, 2 unclear',
    'failed',
  ],
  ['a pause', { ...run, state: 'paused', wait: { of: 'user', text: '' } }, 'paused', 'paused'],
  ['a daemon to come', { ...run, state: 'submitted' }, 'submitted', 'waiting'],
  ['a halt', { ...completed, state: 'halted', counts: failures }, 'halted', 'halted'],
  ['a dashboard that is gone', { ...run, isLastKnown: true }, 'last seen running', 'waiting'],
  ['an end before that', { ...completed, isLastKnown: true }, 'completed', 'completed'],
] as const)('the state of a run tells of %s', (_title, data, text, kind) => {
  expect(stateOf(data)).toEqual({ text, kind });
});

const command = 'cqbatch worker --coordinate';
const daemon = { of: 'daemon', text: `for a daemon: start "${command}"`, command } as const;
const user = { of: 'user', text: 'until it is unpaused' } as const;
const api = (text: string) => ({ of: 'api', text, until: null }) as const;

test.each([
  [{}, undefined],
  [{ succeeded: 96, failed: 4 }, undefined],
  [{ succeeded: 95, failed: 5 }, '5 of 100 called rows failed, mostly with NOT_FOUND (4 rows).'],
  [{ failed: 375 }, 'All 375 called rows failed, mostly with NOT_FOUND (374 rows).'],
  [{ failed: 1 }, 'The only called row failed, with CONFLICT.'],
])('after %j, a run says that it fails: %s', (known, text) => {
  const { failed = 5 }: Partial<typeof counts> = known;
  const codes = [
    { outcome: 'failed', code: 'CONFLICT', count: 1 },
    { outcome: 'failed', code: 'NOT_FOUND', count: failed - 1 },
    { outcome: 'succeeded', code: 'OK', count: 9 },
  ] as const;
  const failing = { ...run, counts: { ...counts, ...known }, local: { ...local, codes } };
  expect(failingText(failing)).toBe(text);
});

const failed = { counts: { ...counts, succeeded: 99, failed: 1 } };

test.each<[what: string, changes: Partial<RunData>, isRetried: boolean, needs: boolean]>([
  ['a run that calls rows', {}, false, false],
  ['a paused run', { state: 'paused', wait: user }, false, true],
  ['a run without a daemon', { state: 'submitted', wait: daemon }, false, true],
  ['a run that waits for the API', { wait: api('the API asks to wait') }, false, false],
  ['a run whose rows fail', { counts: failures }, false, true],
  ['a halted run', { ended: true, state: 'halted' }, false, true],
  ['a cancelled run', { ended: true, state: 'cancelled', ...failed }, false, false],
  ['a run with failures', { ...completed, ...failed }, false, true],
  ['a run whose failures were retried', { ...completed, ...failed }, true, false],
  ['a run with unclear rows', { ...completed, local: { ...local, unclear: 4 } }, false, true],
  ['a retried run with unclear rows', { ...completed, local: { ...local, unclear: 4 } }, true, false],
  ['a run without failures', completed, false, false],
])('%s: needs a person?', (_what, changes, isRetried, needs) => {
  expect(needsPerson({ ...run, ...changes }, isRetried)).toBe(needs);
});

test('a page shows the counts of its report only, beside the state of the run by now', () => {
  const earlier = {
    ...run,
    done: 3,
    counts: { ...counts, succeeded: 3 },
    retrying: 1,
    local: { ...local, unclear: 2 },
  };
  const now = {
    ...earlier,
    state: 'paused',
    wait: user,
    done: 9,
    counts: { ...counts, succeeded: 9 },
    retrying: 0,
  };
  const { done, counts: shown, retrying, local: known } = earlier;
  const page = withCountsOf({ facts: earlier }, { ...now, local: { ...local, unclear: 5 } });
  expect(page).toEqual({ ...now, done, counts: shown, retrying, local: { ...known, codes: undefined } });
});

test.each<[rows: Partial<typeof counts>, text: string]>([
  [{ succeeded: 86, failed: 15, not_attempted: 2_899 }, '15 of 101 called rows failed, 2,899 left'],
  [{ failed: 1, pending: 9 }, '1 of 1 called row failed, 9 left'],
  [{ succeeded: 97, failed: 3 }, ''],
])('the share of failures is one of called rows: %j', (rows, text) => {
  expect(calledText({ counts: { ...counts, ...rows } })).toBe(text);
});

test('a run ended when it entered its last state; of one elsewhere only the start is known', () => {
  const states = [
    { state: 'running', at: '2026-01-01T00:00:00.000Z' },
    { state: 'completed', at: until },
  ] as const;
  const startedAt = '2026-01-01T00:00:00.000Z';
  expect(endedAt({ startedAt, local: { ...local, states: [...states] } })).toBe(until);
  expect(endedAt({ startedAt, local: undefined })).toBe(startedAt);
});

test('without the dashboard, a page has no estimates, no wait and no control, but all rows', () => {
  const known: RunData = {
    ...run,
    done: 40,
    counts: { ...counts, succeeded: 40 },
    throughput: { rowsPerSecond: 10, of: 'now' },
    retrying: 3,
    wait: api('the API asks to wait'),
  };
  const snapshot: Snapshot = {
    stateDir: '.cqbatch',
    runs: [known],
    ended: [],
    workers: [],
    schedules: [],
    hasDaemon: true,
    daemonCommand: 'cqbatch worker --coordinate',
    warnings: [],
    mayControl: true,
    requireReason: false,
  };
  expect(figuresText({ ...known, wait: undefined })).toContain(' left');
  const { runs, mayControl } = asLastKnown(snapshot);
  expect(mayControl).toBe(false);
  expect(runs.map((each) => [figuresText(each), waitText(each)])).toEqual([
    ['40/100 (40 %), 40 succeeded', ''],
  ]);
});
