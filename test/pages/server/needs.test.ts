import { expect, test } from 'vitest';
import { noOutcomes } from '../../../src/domain/terms.ts';
import { type Need, needsOf, tabTitle } from '../../../src/pages/server/needs.ts';
import type { RunData, ScheduleData } from '../../../src/pages/server/page-data.ts';
import { endedRun, runData } from '../../helpers/run-data.ts';
import { pacedBy } from '../../helpers/run-facts.ts';

const now = Date.parse('2026-11-29T20:18:00.000Z');
const at = '2026-11-29T20:00:00.000Z';
const counts = noOutcomes();

const inbox: ScheduleData = {
  name: 'often',
  cron: '* * * * *',
  tz: 'UTC',
  source: { inbox: '/data/inbox' },
  paused: false,
  next: [],
  last: undefined,
  lastWithRuns: undefined,
  refused: [],
};

function needs(known: Partial<Parameters<typeof needsOf>[0]>): readonly Need[] {
  const idle = { runs: [], ended: [], schedules: [], hasDaemon: true, daemonCommand: daemon.command };
  return needsOf({ ...idle, ...known }, now);
}

const worker = { of: 'worker', text: 'for a worker', command: 'cqbatch worker --base-url x' } as const;
const daemon = { of: 'daemon', text: 'for a daemon', command: 'cqbatch worker --coordinate' } as const;
const failing = { counts: { ...counts, succeeded: 20, failed: 22 }, done: 42 };

test.each<[what: string, run: RunData, need: Partial<Need>]>([
  [
    'waits for a worker',
    runData({ id: 'r', wait: worker, done: 40 }),
    {
      kind: 'waiting',
      title: 'r waits for a worker',
      text: '60 rows wait: no worker serves https://api.example.com.',
      command: worker.command,
    },
  ],
  [
    'waits for a daemon',
    runData({ id: 'r', state: 'submitted', wait: daemon }),
    { kind: 'waiting', title: 'r waits for a daemon', text: '100 rows wait.', command: daemon.command },
  ],
  [
    'is paused',
    runData(
      { id: 'r', state: 'paused', done: 99, wait: { of: 'user', text: 'until it is unpaused' } },
      { states: [{ state: 'paused', at, by: { user: 'ana', host: 'desk' }, reason: 'lunch' }] },
    ),
    { kind: 'paused', title: 'r is paused', text: 'Paused by ana: lunch. 1 row is left.', since: at },
  ],
  [
    'fails',
    runData({ id: 'r', ...failing }),
    { kind: 'failed', title: 'r fails', text: '22 of 42 called rows failed.', rows: 'failed' },
  ],
])('a run in progress needs a person while it %s', (_what, run, need) => {
  expect(needs({ runs: [run] })).toEqual([expect.objectContaining({ ...need, run })]);
});

test('a run that calls rows, or waits for one of higher priority, needs nothing', () => {
  const behind = runData({ wait: { of: 'run', text: 'for restore-b (priority high), about 40 s' } });
  expect(needs({ runs: [runData(), behind] })).toEqual([]);
});

test('an API that is away is one card for all its runs: since when, and when they give up', () => {
  const away = {
    reason: 'The server refuses connections.',
    since: at,
    gives_up_at: '2026-11-29T20:32:00.000Z',
  };
  const wait = { of: 'api', text: 'away', until: null } as const;
  const runs = ['a', 'b'].map((id) => runData({ id, wait, pace: pacedBy({ away }) }));
  expect(needs({ runs })).toEqual([
    {
      id: 'away https://api.example.com',
      kind: 'attention',
      title: 'https://api.example.com is away',
      text: expect.stringMatching(
        /^The server refuses connections\. 2 runs \(a and b\) give up at .*:32 .*\.$/,
      ),
      since: at,
      run: runs[0],
    },
  ]);
  const endless = pacedBy({ away: { ...away, gives_up_at: null } });
  const [need] = needs({ runs: [runData({ id: 'a', wait, pace: endless })] });
  expect(need?.text).toBe('The server refuses connections. 1 run (a) waits until the API is back.');
});

test('without a daemon, schedules need one, unless all are paused', () => {
  const [need, ...more] = needs({ hasDaemon: false, schedules: [inbox, { ...inbox, name: 'other' }] });
  expect(need).toMatchObject({ title: 'No daemon is running', command: 'cqbatch worker --coordinate' });
  expect(more).toEqual([]);
  expect(needs({ hasDaemon: false, schedules: [{ ...inbox, paused: true }] })).toEqual([]);
  expect(needs({ hasDaemon: false })).toEqual([]);
});

test('refused files are a card for each schedule, which a person dismisses up to the latest', () => {
  const later = '2026-11-29T20:10:00.000Z';
  const refused = [
    { name: 'bad.csv', at },
    { name: 'titles.csv', at: later },
  ];
  const found = needs({
    schedules: [{ ...inbox, refused }, inbox, { ...inbox, name: 'rare', refused: refused.slice(0, 1) }],
  });
  expect(found).toEqual([
    {
      id: 'refused often',
      kind: 'failed',
      title: '2 files of often were refused',
      text: 'bad.csv and titles.csv. The reasons are beside the files, in /data/inbox/failed.',
      since: later,
      refusals: { schedule: 'often', until: later },
    },
    expect.objectContaining({
      title: 'A file of rare was refused',
      refusals: { schedule: 'rare', until: at },
    }),
  ]);
});

const halted = endedRun('halted', 'halted', at, {
  rows: 3_000,
  counts: { ...counts, succeeded: 86, failed: 15, not_attempted: 2_899 },
});
const all = { counts: { ...counts, succeeded: 100 } };
const unclearStep = {
  title: 'Check 20 unclear rows',
  text: 'The API may have made the change.',
  command: 'cqbatch check unclear',
  group: 'all unclear',
  rows: 20,
} as const;
const unclear = endedRun('unclear', 'completed', at, all, { unclear: 20, unclearStep });
const failed = endedRun('failed', 'completed', at, { counts: { ...counts, succeeded: 97, failed: 3 } });

test('a halted run says how many of its called rows failed, and how many are left', () => {
  expect(needs({ ended: [halted] })).toEqual([
    expect.objectContaining({
      kind: 'halted',
      title: 'halted is halted',
      text: '15 of 101 called rows failed, 2,899 left.',
      rows: 'attention',
      since: at,
    }),
  ]);
  const states = [{ state: 'halted', at, reason: '15 of the first 101 rows failed' }] as const;
  const told = {
    ...halted,
    local: { ...runData().local, states: [...states], steps: [], isShared: false, activeMs: 0 },
  };
  expect(needs({ ended: [told] })[0]?.text).toBe('2,899 rows are left. 15 of the first 101 rows failed.');
});

test('a completed run needs a person for its unclear rows, and for failed ones', () => {
  expect(needs({ ended: [unclear, failed] })).toMatchObject([
    {
      kind: 'unclear',
      title: '20 rows of unclear are unclear',
      text: unclearStep.text,
      rows: 'all unclear',
      command: unclearStep.command,
    },
    { kind: 'failed', title: '3 rows of failed failed', text: '97 of 100 succeeded.', rows: 'attention' },
  ]);
});

test('a run whose unclear rows a check found done needs nothing, or a look at its other rows', () => {
  const checked = endedRun('checked', 'completed', at, all, { unclear: 20 });
  const both = endedRun('both', 'completed', at, { counts: failed.counts }, { unclear: 20 });
  expect(needs({ ended: [checked, both] })).toMatchObject([{ title: '3 rows of both failed' }]);
});

test('a run needs nothing after its retry, when a person has cancelled it, or when it is a week old', () => {
  const retry = runData({ id: 'again' }, { retryOf: 'failed' });
  expect(needs({ ended: [failed], runs: [retry] })).toEqual([]);
  expect(needs({ ended: [endedRun('again', 'completed', at, {}, { retryOf: 'failed' }), failed] })).toEqual(
    [],
  );
  const cancelled = endedRun('c', 'cancelled', at, { counts: failed.counts });
  const old = endedRun('old', 'halted', '2026-11-22T20:00:00.000Z', { counts: halted.counts });
  const fine = endedRun('fine', 'completed', at, { counts: { ...counts, succeeded: 100 } });
  expect(needs({ ended: [cancelled, old, fine] })).toEqual([]);
});

test('runs in progress come first, then refused files, then stopped runs, unclear ones, failed ones', () => {
  const running = runData({ id: 'r', ...failing });
  const schedules = [{ ...inbox, refused: [{ name: 'bad.csv', at }] }];
  const ended = [failed, unclear, halted, endedRun('newer', 'halted', at, { counts: halted.counts })];
  const ids = needs({ hasDaemon: false, runs: [running], schedules, ended }).map(({ id }) => id);
  expect(ids).toEqual([
    'need r',
    'daemon',
    'refused often',
    'need halted',
    'need newer',
    'need unclear',
    'need failed',
  ]);
});

const [one, other] = [runData({ id: 'one', done: 42 }), runData({ id: 'other', rows: 300, done: 300 })];
const need: Need = { id: 'n', kind: 'failed', title: '', text: '' };

test.each<[title: string, runs: readonly RunData[], needs: readonly Need[], opened?: string]>([
  ['cqbatch', [], []],
  ['1 needs you · cqbatch', [], [need]],
  ['42 % one · cqbatch', [one], []],
  ['3 need you · 86 % 2 runs · cqbatch', [one, other], [need, need, need]],
  ['42 % one · cqbatch', [one, other], [], 'one'],
  ['1 needs you · old · cqbatch', [one, other], [need], 'old'],
])('the tab says "%s"', (title, runs, known, opened) => {
  expect(tabTitle({ runs }, known, opened)).toBe(title);
});
