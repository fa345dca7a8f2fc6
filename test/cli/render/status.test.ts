import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { steadyNow, steadyTimeOf } from '../../../src/base/async/clock.ts';
import * as render from '../../../src/cli/render/status.ts';
import { plain } from '../../../src/cli/render/style.ts';
import type { NextStep } from '../../../src/engine/report/next-steps.ts';
import type { RunView } from '../../../src/engine/run/record/run-view.ts';
import { scenes } from './scenes.ts';

const { statusDocument } = render;
const statusText = (changes: Partial<RunView>, at = now) =>
  plain(render.statusText({ ...running, ...changes }, at, '1.2.3'));
const statusLine = (changes: Partial<RunView>) =>
  plain(render.statusLines({ ...running, ...changes }).join('\n'));

const now = Date.parse('2026-01-05T09:30:00.000Z');
const at = (secondsAgo: number): string => new Date(now - 1_000 * secondsAgo).toISOString();

const coordinator = { host: 'beta', pid: 42, version: '1.2.3', seenAt: at(1) };

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
  startedAt: undefined,
  baseUrl: 'https://api.example.com',
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
  throughput: { rowsPerSecond: 640.4, of: 'now' },
  coordinator,
  workers: [worker],
};

const pace = { concurrency: 20, phase: 'fixed', reason: 'no limit requested' } as const;

const restUntil = steadyTimeOf(now + 7_200_000);
const unknown = { throughput: undefined, coordinator: undefined } as unknown as Partial<RunView>;

const local = {
  unclear: 3,
  codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 32, example: 7 }],
  states: [
    { state: 'planned', at: at(90) },
    { state: 'running', at: at(60) },
  ],
  steps: [],
} as unknown as NonNullable<RunView['local']>;

/** What is known here of a run that was in these states, each for a reason. */
const told = (...states: readonly (readonly [state: string, reason: string, more?: object])[]) =>
  ({
    ...local,
    states: states.map(([state, reason, more]) => ({ state, at: at(1), reason, ...more })),
  }) as typeof local;

const steps = (...commands: readonly string[]): readonly NextStep[] =>
  commands.map((command) => ({ title: 'Do it', text: '', command, group: 'all', rows: 0 }));

const outage = { reason: 'api.example.com is away: 503', testMs: 5 };
const text = 'for a worker: none serves https://api.example.com; start one: cqbatch worker';
const none = { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0, pending: 0 };

/** What changes in a run that is running. */
const cases: readonly (readonly [what: string, changes: Partial<RunView>])[] = [
  ['running', {}],
  ['no rate, process or worker is known', { ...unknown, workers: [] }],
  ['an average rate', { throughput: { rowsPerSecond: 2.5, of: 'average' } }],
  ['unlimited', { pace }],
  ['a limit of the API', { pace: { ...pace, rate: 49.4, limit: 50 } }],
  ['a row that waits for a retry', { local: { ...local, held: 1 } }],
  ['a silent process', { coordinator: { ...coordinator, seenAt: at(180) } }],
  ['processes of two versions', { workers: [worker, { ...worker, pid: 72, version: '1.1.0' }] }],
  ['a worker that makes only single calls', { workers: [{ ...worker, outage }] }],
  ['a wait for a worker', { workers: [], wait: { of: 'worker', text } }],
  ['a run that is called first', { wait: { of: 'run', text: 'for urgent (priority high), about 40 s' } }],
  [
    'paused',
    {
      state: 'paused',
      local: {
        ...told(['running', 'on the dashboard'], ['paused', 'maintenance']),
        steps: steps('cqbatch unpause monthly'),
      },
    },
  ],
  ['paused before', { local: told(['paused', 'maintenance'], ['running', 'on the dashboard']) }],
  ['resumed for a reason', { local: told(['interrupted', 'a signal'], ['running', 'the API is back']) }],
  [
    'halted for a reason with a command',
    {
      state: 'halted',
      local: {
        ...told(['halted', 'guard']),
        steps: steps('cqbatch show monthly --row 7', 'cqbatch resume monthly'),
      },
    },
  ],
  [
    'halted without an API that answers',
    {
      state: 'halted',
      because: 'stuck',
      local: {
        ...told(['halted', 'the API rejected the token', { because: 'stuck' }]),
        steps: steps('cqbatch resume monthly'),
      },
    },
  ],
  ['submitted', { ...unknown, state: 'submitted', workers: [], done: 0, counts: none }],
  ['without rows', { rows: 0, done: 0, counts: none }],
];

describe('the status', () => {
  test('shows an outage of the API, its next step and its end', () => {
    vi.useFakeTimers({ now });
    onTestFinished(() => void vi.useRealTimers());
    const away = {
      why: '503 try later.',
      since: steadyTimeOf(now - 90_000),
      givesUpAt: steadyTimeOf(now + 810_000),
    };
    const pace = {
      concurrency: 20,
      phase: 'waiting',
      reason: 'away',
      away,
      restUntil: steadyTimeOf(now + 15_000),
    } as const;
    const text =
      /API away for 1 min 30 s: 503 try later\. Tries again in 15 s, gives up at \d\d:\d\d UTC\S*\.$/m;
    expect(statusText({ pace })).toMatch(text);
    expect(statusText({ pace })).not.toContain('allowed rate');
    expect(statusLine({ pace })).toMatch(/640\/s {2}1 worker\nAPI away for /);
    expect(statusDocument({ ...running, pace })).toMatchObject({
      pace: { away: { reason: '503 try later.', since: at(90), gives_up_at: at(-810) } },
    });
  });

  test('shows the progress of a run and its processes', async () => {
    await expect(scenes(cases, statusText)).toMatchFileSnapshot('../screens/status.txt');
  });

  test('fits on one line', async () => {
    await expect(scenes(cases, statusLine)).toMatchFileSnapshot('../screens/status-line.txt');
  });

  test('shows a wait for the API while it lasts, what asks for it, and the command that ends it', () => {
    const advice =
      '"Retry-After: 7200" asks for this wait; to call sooner, type: cqbatch set-rate monthly 5/s (or resume it with --rate 5/s)';
    const waiting = { pace: { ...pace, restUntil, restBy: 'Retry-After: 7200' } };
    const [before = '', after] = statusText(waiting).split(`\n                ${advice}\n`);
    expect(before).toMatch(
      /^ {2}allowed rate +waiting 2 h, until .*\d\d:\d\d UTC\S* \(no limit requested\)$/m,
    );
    expect(after).toMatch(/^ {2}process /);
    expect(statusText(waiting, now + 7_200_000)).not.toMatch(/waiting|Retry-After/);
    const steady = { ...waiting.pace, restUntil: steadyNow() + 7_200_000 };
    expect(statusLine({ pace: steady })).toContain(`  1 worker\n${advice}`);
  });
});

describe('the document', () => {
  test('has the same facts', () => {
    const { id: _, baseUrl, startedAt: started_at, seenAt: seen_at, ...ofWorker } = worker;
    const view = {
      ...running,
      local: { ...local, retryOf: 'before' },
      wait: { of: 'worker', text } as const,
    };
    expect(statusDocument(view)).toEqual({
      run: 'monthly',
      state: 'running',
      manifest: 'rows.csv',
      base_url: baseUrl,
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
      workers: [{ ...ofWorker, started_at, seen_at }],
      states: local.states,
      waiting: text,
      retry_of: 'before',
    });
  });

  test('has the allowed rate', () => {
    const known = { ...pace, rate: 49.456, limit: 50, restUntil, restBy: 'Retry-After: 7200' };
    expect(statusDocument({ ...running, pace: known })).toMatchObject({
      pace: {
        allowed_per_s: 49.46,
        limit_per_s: 50,
        concurrency: 20,
        reason: 'no limit requested',
        wait_until: expect.stringMatching(/^2026-01-05T11:(?:29:59|30:00)\.\d{3}Z$/),
        wait_by: 'Retry-After: 7200',
      },
    });
    expect(statusDocument({ ...running, pace })).toMatchObject({
      pace: { allowed_per_s: null, limit_per_s: null, wait_until: null, wait_by: null },
    });
  });

  test('has null for facts that only another machine knows', () => {
    const nothing = { unclear: null, codes: null, rows_per_s: null, process: null, states: null };
    expect(statusDocument({ ...running, ...unknown })).toMatchObject(nothing);
  });
});
