import { expect, test } from 'vitest';
import { localTime } from '../../../src/base/text/local-time.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import {
  failingText,
  needsPerson,
  type RunData,
  sentenceOf,
  stateOf,
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
  ['an API that is away', { ...run, wait: { of: 'api', text: 'away' } }, 'waiting', 'waiting'],
  ['a run that its datastore last told of', away, 'last seen running', 'waiting'],
  ['success', { ...completed, counts: { ...counts, succeeded: 100 } }, 'completed', 'completed'],
  ['failures', { ...completed, counts: failures }, 'completed', 'failed'],
] as const)('the state of a run tells of %s', (_title, data, text, kind) => {
  expect(stateOf(data)).toEqual({ text, kind });
});

const resume = 'The run continues by itself; if it ends first, type: cqbatch resume r';

const daemon = { of: 'daemon', text: 'for a daemon: start "cqbatch worker --coordinate"' } as const;
const user = { of: 'user', text: 'until it is unpaused' } as const;
const api = (text: string) => ({ of: 'api', text }) as const;
const speed = { rowsPerSecond: 1.12, of: 'now' } as const;
const time = localTime(until);

test.each<[what: string, changes: Partial<RunData>, text: string]>([
  ['its start', { counts }, 'Starting.'],
  ['that nothing finishes', { counts: { ...counts, failed: 1 } }, 'No row has finished in the last seconds.'],
  ['that all rows left wait', { local: { ...local, held: 3 } }, '3 rows wait for the next attempt.'],
  ['the time left', { throughput: speed }, 'About 1 min 30 s left.'],
  [
    'waiting rows',
    { throughput: speed, local: { ...local, held: 2 } },
    'At least 1 min 30 s left: some rows wait for a retry.',
  ],
  ['a pause', { state: 'paused', wait: user }, 'Paused: no row is called until you unpause it.'],
  [
    'the reason of a pause',
    { state: 'paused', local: { ...local, states: [{ state: 'paused', at: until, reason: 'lunch' }] } },
    'Paused (lunch): no row is called until you unpause it.',
  ],
  ['an API that is away', { wait: api('h is away: 502') }, `Waiting because h is away: 502. ${resume}`],
  [
    'a datastore that is away',
    { wait: { of: 'datastore', text: 'Redis is away' } },
    `Waiting because Redis is away. ${resume}`,
  ],
  ['a wait', { wait: api('asked'), waitUntil: until }, `Waiting because asked, until ${time}. ${resume}`],
  ['a daemon that is missing', { state: 'submitted', wait: daemon }, `Waiting ${daemon.text}.`],
  [
    'another machine whose datastore is away',
    { lastSeenAt: until },
    `Unknown since ${time}: the datastore of this run does not answer.`,
  ],
])('a run in progress tells of %s, and what to do', (_title, more, text) => {
  expect(sentenceOf({ ...run, ...more })).toBe(text);
});

test.each([
  [{}, undefined],
  [{ succeeded: 96, failed: 4 }, undefined],
  [{ succeeded: 95, failed: 5 }, '5 of 100 called rows failed, mostly with NOT_FOUND (4 rows).'],
  [{ failed: 375 }, 'All 375 called rows failed, mostly with NOT_FOUND (374 rows).'],
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
  ['a run without failures', completed, false, false],
])('%s: needs a person?', (_what, changes, isRetried, needs) => {
  expect(needsPerson({ ...run, ...changes }, isRetried)).toBe(needs);
});
