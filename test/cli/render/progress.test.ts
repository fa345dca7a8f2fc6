import { expect, onTestFinished, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import * as render from '../../../src/cli/render/progress.ts';
import { plain, styled } from '../../../src/cli/render/style.ts';
import type { Pace } from '../../../src/domain/pace.ts';
import type { ProgressSnapshot } from '../../../src/engine/run/work/progress.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { readable, scenes } from './scenes.ts';

const snapshot: ProgressSnapshot = {
  rows: 12_000,
  done: 4_512,
  counts: {
    succeeded: 4_480,
    failed: 32,
    invalid: 0,
    duplicate: 0,
    skipped: 0,
    not_attempted: 0,
    pending: 0,
  },
  rowsPerSecond: 640,
  waitMs: 0,
  retrying: 0,
  paused: false,
  etaSeconds: 11.7,
  elapsedSeconds: 7,
};

const pace: Pace = {
  rate: 50,
  isKept: true,
  concurrency: 20,
  phase: 'holding',
  refuses503: false,
  reason: '',
};

const progressLine = (changes: Partial<ProgressSnapshot>) =>
  readable(render.progressLine({ ...snapshot, ...changes }));

const monthly = {
  ...plannedRecord,
  id: 'monthly',
  options: { ...plannedRecord.options, baseUrl: 'https://api.example.com', rateGroup: 'acme' },
};

/** What changes in a run that calls rows. */
const cases: readonly (readonly [what: string, changes: Partial<ProgressSnapshot>])[] = [
  ['rows, outcomes, rate and time left', {}],
  ['no time left at the end', { done: 12_000 }],
  ['a rate looked for', { pace: { ...pace, reason: 'looking for the API limit' } }],
  ['a limit', { pace: { ...pace, phase: 'fixed', limit: 52.4 } }],
  ['a rate as the user set it', { pace: { ...pace, phase: 'fixed', reason: 'as requested' } }],
  [
    'a wait, without an allowed rate and the time left',
    { pace: { ...pace, reason: 'the API asks to wait' }, waitMs: 11_500, retrying: 3 },
  ],
  [
    'a wait at a rate that the user has set',
    {
      pace: { ...pace, phase: 'fixed', restUntil: steadyNow() + 9_000, reason: 'the API asks to wait' },
      waitMs: 9_000,
    },
  ],
  ['a run that is called first', { rowsPerSecond: 0, ahead: 'for urgent (priority high), about 40 s' }],
  ['a pause', { paused: true }],
  ['calls that stall', { rowsPerSecond: 0, stalled: { calls: 12, oldestMs: 90_000, timeoutMs: 120_000 } }],
  ['a call that stalls', { rowsPerSecond: 0, stalled: { calls: 1, oldestMs: 35_400, timeoutMs: 60_000 } }],
];

test('the progress line shows the done rows, their outcomes, the rate and what it waits for', async () => {
  await expect(scenes(cases, progressLine)).toMatchFileSnapshot('../screens/progress-line.txt');
});

test('the progress line comes with an outage of the API, its next step and its end', () => {
  vi.useFakeTimers({ now: new Date(2026, 0, 1, 14, 0) });
  onTestFinished(() => void vi.useRealTimers());
  const at = steadyNow();
  const away = { why: 'connection refused', since: at - 12_000, givesUpAt: at + 900_000 };
  const lines = (changes: Partial<Pace>) =>
    render
      .progressLines(
        { ...snapshot, waitMs: 2_000, pace: { ...pace, away, restUntil: at + 2_000, ...changes } },
        monthly,
      )
      .map(plain);
  expect(lines({})).toEqual([
    '4,512/12,000 (38 %)  4,480 succeeded, 32 failed  640/s',
    expect.stringMatching(
      /^API away for 12 s: connection refused\. Tries again in 2 s, gives up at 14:15 UTC\S*\. Ctrl-C loses nothing\.$/,
    ),
  ]);
  expect(lines({ away: { ...away, givesUpAt: undefined }, restUntil: at })[1]).toBe(
    'API away for 12 s: connection refused. Tries again now. Ctrl-C loses nothing.',
  );
});

test.each([
  [0, 0, '·············'],
  [6_000, 0, '██████·······'],
  [11_999, 1, '████████████░'],
  [106, 4, '█░···········'],
  [1, 11_998, '█░░░░░░░░░░░·'],
])(
  '%d succeeded and %d failed rows of 12,000 are a bar on a screen of 80 columns: %s %s',
  (succeeded, failed, bar) => {
    const counts = { ...snapshot.counts, succeeded, failed };
    const [line = ''] = render.progressLines({ ...snapshot, counts }, monthly, { columns: 80 });
    expect(plain(line)).toMatch(new RegExp(`^${bar}  4,512/12,000 `));
  },
);

test('the progress line comes with what asks for a long wait, and the command that ends it', () => {
  const waiting = { ...pace, restUntil: steadyNow() + 7_200_000, restBy: 'Retry-After: 7200' };
  expect(render.progressLines({ ...snapshot, pace: waiting, waitMs: 7_200_000 }, monthly)).toEqual([
    expect.stringContaining('waiting 2 h'),
    '"Retry-After: 7200" asks for this wait; to call sooner, type: cqbatch set-rate monthly 5/s (or resume it with --rate 5/s)',
  ]);
  expect(render.progressLines({ ...snapshot, pace }, monthly)).toHaveLength(1);
});

test('the progress line comes with the command that starts a worker when none serves the run', () => {
  const unserved = { ...snapshot, workers: 0 };
  expect(render.progressLines(unserved, monthly)).toEqual([
    expect.stringContaining('waiting for a worker'),
    styled(
      'yellow',
      'waiting for a worker: none serves https://api.example.com (rate group acme); start one: cqbatch worker --base-url https://api.example.com --rate-group acme',
    ),
  ]);
  expect(render.progressLines({ ...unserved, done: unserved.rows }, monthly)).toHaveLength(1);
});

test.each([
  ['some minutes', 599_000, 'waiting 9 min 59 s'],
  ['longer, and shows the end', 600_000, 'waiting 10 min, until 14:10'],
  ['until another day', 12 * 3_600_000, 'waiting 12 h, until 2 Jan 02:00'],
])('the progress line, while the API asks to wait, waits %s', (_title, waitMs, text) => {
  vi.useFakeTimers({ now: new Date(2026, 0, 1, 14, 0) });
  onTestFinished(() => void vi.useRealTimers());
  expect(progressLine({ waitMs })).toContain(text);
});
