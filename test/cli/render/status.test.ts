import { describe, expect, test } from 'vitest';
import { steadyNow, steadyTimeOf } from '../../../src/base/async/clock.ts';
import * as render from '../../../src/cli/render/status.ts';
import { plain } from '../../../src/cli/render/style.ts';
import type { RunView } from '../../../src/engine/run/record/run-view.ts';

const { statusDocument } = render;
const statusText = (view: RunView, at: number) => plain(render.statusText(view, at, '1.2.3'));
const statusLine = (view: RunView) => plain(render.statusLines(view).join('\n'));

const now = Date.parse('2026-01-05T09:30:00.000Z');
const at = (secondsAgo: number): string => new Date(now - 1_000 * secondsAgo).toISOString();

const worker = {
  id: 'w1',
  host: 'alpha',
  pid: 71,
  version: '1.2.3',
  baseUrl: 'https://api.example.com',
  concurrency: 50,
  active: 12,
  finished: 900,
  startedAt: at(60),
  seenAt: at(1),
};

const running: RunView = {
  id: 'monthly',
  state: 'running',
  wait: undefined,
  because: undefined,
  wantedRate: 'auto',
  priority: 'normal',
  ended: false,
  manifest: 'rows.csv',
  baseUrl: 'https://api.example.com',
  rows: 12_000,
  done: 4_512,
  counts: { succeeded: 4_480, failed: 32, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 },
  throughput: { rowsPerSecond: 640.4, of: 'now' },
  coordinator: { host: 'beta', pid: 42, version: '1.2.3', seenAt: at(1) },
  workers: [worker],
};

const pace = { concurrency: 20, phase: 'fixed', reason: 'no limit requested' } as const;

const local = {
  unclear: 3,
  codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 32, example: 7 }],
  states: [
    { state: 'planned', at: at(90) },
    { state: 'running', at: at(60) },
  ],
  resumable: false,
} as unknown as NonNullable<RunView['local']>;

describe('the status', () => {
  test('counts the rows that wait for a retry, if any', () => {
    const held = (rows: number) => statusText({ ...running, local: { ...local, held: rows } }, now);
    expect(held(1)).toMatch(/^ {2}waiting for a retry {2}1 row$/m);
    expect(held(0)).not.toContain('retry');
  });

  test('shows the progress of a run and its processes', () => {
    expect(statusText(running, now).split('\n')).toEqual([
      'Run monthly running',
      '  manifest  rows.csv',
      '  API       https://api.example.com',
      '  done      4,512 of 12,000 rows (38 %)',
      '            4,480 succeeded',
      '            32 failed',
      '  rate      640/s',
      '  process   42 on beta',
      '  workers   71 on alpha, 12 of 50 calls in flight',
    ]);
  });

  test('shows when a silent process was last seen', () => {
    const text = statusText(
      {
        ...running,
        coordinator: { host: 'beta', pid: 42, seenAt: at(3 * 60) },
      },
      now,
    );
    expect(text).toMatch(/^ {2}process {3}42 on beta, last seen 3 min ago$/m);
    expect(text).toMatch(/^ {2}workers {3}71 on alpha, 12 of 50 calls in flight$/m);
  });

  test('shows the versions when not all processes have that of this program', () => {
    const text = statusText(
      {
        ...running,
        coordinator: { host: 'beta', pid: 42, version: '1.2.3', seenAt: at(1) },
        workers: [worker, { ...worker, pid: 72, version: '1.1.0' }],
      },
      now,
    );
    expect(text).toMatch(/^ {2}process {3}42 on beta, version 1\.2\.3$/m);
    expect(text).toMatch(/^ {2}workers {3}71 on alpha, version 1\.2\.3, 12 of 50 calls in flight$/m);
    expect(text).toMatch(/^ {12}72 on alpha, version 1\.1\.0, 12 of 50 calls in flight$/m);
  });

  test('shows why a run ended and the next command', () => {
    const halted = { ...running, state: 'halted', ended: true, workers: [] };
    const states = [
      { state: 'halted' as const, at: at(1), reason: 'more failures than --max-failures allows' },
    ];
    const text = statusText({ ...halted, local: { ...local, states, resumable: true } }, now);
    expect(text).toMatch(/^ {12}3 rows unclear: an attempt may have been processed$/m);
    expect(text).toMatch(/^ {2}reason {4}more failures than --max-failures allows$/m);
    expect(text).toMatch(/^ {2}next {6}cqbatch resume monthly$/m);
    const remedy = 'continue with: cqbatch resume monthly --max-failures none';
    const named = [
      { state: 'halted' as const, at: at(1), reason: `the first 20 rows all failed; ${remedy}` },
    ];
    expect(statusText({ ...halted, local: { ...local, states: named, resumable: true } }, now)).toMatch(
      /^ {2}next {6}cqbatch resume monthly --max-failures none$/m,
    );
    expect(statusText({ ...running, state: 'paused' }, now)).toMatch(/next +cqbatch unpause monthly$/);
    expect(statusText({ ...running, local }, now)).not.toMatch(/next|reason/);
  });

  test('shows the reason of a pause only while it lasts', () => {
    const paused = { state: 'paused' as const, at: at(9), reason: 'maintenance' };
    const unpaused = { state: 'running' as const, at: at(1), reason: 'on the dashboard' };
    const statusOf = (...states: NonNullable<RunView['local']>['states']) =>
      statusText({ ...running, local: { ...local, states } }, now);
    expect(statusOf(paused)).toMatch(/^ {2}reason {4}maintenance$/m);
    expect(statusOf(paused, unpaused)).not.toContain('reason');
  });

  test('marks an average rate, and leaves out an unknown one', () => {
    expect(statusText({ ...running, throughput: { rowsPerSecond: 2.5, of: 'average' } }, now)).toMatch(
      /rate +2\.5\/s on average/,
    );
    const { throughput: _, coordinator: __, ...unknown } = running;
    expect(statusText(unknown, now)).not.toMatch(/rate|process/);
  });

  test('fits on one line', () => {
    expect(statusLine(running)).toBe(
      'Run monthly running  4,512/12,000 (38 %)  4,480 succeeded, 32 failed  640/s  1 worker',
    );
    const { throughput: _, ...submitted } = { ...running, state: 'submitted', workers: [] };
    expect(
      statusLine({ ...submitted, done: 0, counts: { ...running.counts, succeeded: 0, failed: 0 } }),
    ).toBe('Run monthly submitted  0/12,000 (0 %)');
    expect(statusLine({ ...running, workers: [worker, worker] })).toMatch(/2 workers$/);
    expect(statusLine({ ...running, throughput: { rowsPerSecond: 5, of: 'average' } })).not.toContain('/s');
  });

  test.each([
    ['no limit', {}, 'unlimited (no limit requested)'],
    ['a rate', { rate: 49.4 }, 'up to 49/s (no limit requested)'],
    ['a limit', { rate: 49.4, limit: 50 }, 'up to 49/s, API limit 50/s (no limit requested)'],
  ])('shows an allowed rate with %s', (_title, known, text) => {
    const view = { ...running, pace: { ...pace, ...known } };
    expect(statusText(view, now)).toContain(`\n  allowed rate  ${text}\n  process `);
    expect(statusLine(view)).toContain(`  640/s  ${text}  1 worker`);
  });

  test('shows a wait for the API while it lasts', () => {
    const restUntil = steadyTimeOf(now + 7_200_000);
    expect(statusText({ ...running, pace: { ...pace, restUntil } }, now)).toMatch(
      /^ {2}allowed rate +waiting 2 h, until .*\d\d:\d\d UTC\S* \(no limit requested\)$/m,
    );
    expect(statusText({ ...running, pace: { ...pace, restUntil } }, now + 7_200_000)).not.toContain(
      'waiting',
    );
  });

  test('names what waits, and the command that starts a worker, also on one line', () => {
    const text = 'for a worker: none serves https://api.example.com; start one: cqbatch worker';
    const view = { ...running, workers: [], wait: { of: 'worker', text } as const };
    expect(statusText(view, now)).toContain(`\n  waiting   ${text}\n`);
    expect(statusLine(view)).toContain(`  waiting ${text}`);
    expect(statusDocument(view)).toMatchObject({ waiting: text });
  });

  test('says of a worker why it makes only single calls', () => {
    const outage = { reason: 'api.example.com is away: 503', testMs: 5 };
    expect(statusText({ ...running, workers: [{ ...worker, outage }] }, now)).toContain(
      '12 of 50 calls in flight, waiting: api.example.com is away: 503',
    );
  });

  test('names what asks for a long wait, and the command that ends it', () => {
    const rest = { restUntil: steadyTimeOf(now + 7_200_000), restBy: 'Retry-After: 7200' };
    const view = { ...running, pace: { ...pace, reason: 'the API asks to wait', ...rest } };
    const advice =
      '"Retry-After: 7200" asks for this wait; to call sooner, type: cqbatch set-rate monthly 5/s (or resume it with --rate 5/s)';
    expect(statusText(view, now)).toContain(`(the API asks to wait)\n                ${advice}\n`);
    expect(statusText(view, now + 7_200_000)).not.toContain('Retry-After');
    const steady = { ...view.pace, restUntil: steadyNow() + 7_200_000 };
    expect(statusLine({ ...view, pace: steady })).toMatch(
      / {2}1 worker\n"Retry-After: 7200" asks .+ --rate 5\/s\)$/,
    );
  });

  test('of a manifest without rows shows 0 %', () => {
    const counts = { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 };
    expect(statusLine({ ...running, rows: 0, done: 0, counts })).toContain('0/0 (0 %)');
  });
});

describe('the document', () => {
  test('has the same facts', () => {
    expect(statusDocument({ ...running, local: { ...local, retryOf: 'before' } })).toEqual({
      run: 'monthly',
      state: 'running',
      manifest: 'rows.csv',
      base_url: 'https://api.example.com',
      rows: 12_000,
      done: 4_512,
      outcomes: running.counts,
      unclear: 3,
      codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 32 }],
      wanted_rate: 'auto',
      priority: 'normal',
      rows_per_s: 640.4,
      pace: null,
      process: { pid: 42, host: 'beta', version: '1.2.3' },
      workers: [
        {
          host: 'alpha',
          pid: 71,
          version: '1.2.3',
          concurrency: 50,
          active: 12,
          finished: 900,
          started_at: at(60),
          seen_at: at(1),
        },
      ],
      states: local.states,
      waiting: null,
      retry_of: 'before',
    });
  });

  test('has the allowed rate', () => {
    const rest = { restUntil: steadyTimeOf(now + 60_000), restBy: 'Retry-After: 7200' };
    const known = { ...pace, rate: 49.456, limit: 50, ...rest };
    expect(statusDocument({ ...running, pace: known })).toMatchObject({
      pace: {
        allowed_per_s: 49.46,
        limit_per_s: 50,
        concurrency: 20,
        reason: 'no limit requested',
        wait_until: expect.stringMatching(/^2026-01-05T09:3[01]:\d\d\.\d{3}Z$/),
        wait_by: 'Retry-After: 7200',
      },
    });
    expect(statusDocument({ ...running, pace })).toMatchObject({
      pace: { allowed_per_s: null, limit_per_s: null, wait_until: null, wait_by: null },
    });
  });

  test('has null for facts that only another machine knows', () => {
    const { throughput: _, coordinator: __, ...elsewhere } = running;
    expect(statusDocument({ ...elsewhere, workers: [] })).toMatchObject({
      unclear: null,
      codes: null,
      rows_per_s: null,
      process: null,
      workers: [],
      states: null,
      retry_of: null,
    });
  });
});
