import { describe, expect, test } from 'vitest';
import * as render from '../../../src/cli/render/status.ts';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import type { NextStep } from '../../../src/engine/report/next-step.ts';
import type { RunFacts } from '../../../src/engine/run/facts/run-facts.ts';
import { now, progressScenes } from '../../engine/run/facts/progress-scenes.ts';
import { pacedBy, runFacts } from '../../helpers/run-facts.ts';
import { scenes } from './scenes.ts';

const { statusDocument } = render;
const statusText = (changes: Partial<RunFacts>, at = now) =>
  withoutMarks(render.statusText({ ...running, ...changes }, at, '1.2.3'));
const statusLine = (changes: Partial<RunFacts>) =>
  withoutMarks(render.statusLines({ ...running, ...changes }, now).join('\n'));

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

const running = runFacts({ coordinator, workers: [worker] });

const unknown = { throughput: undefined, coordinator: undefined };

const local = {
  unclear: 3,
  codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 32, example: 7 }],
  states: [
    { state: 'planned', at: at(90) },
    { state: 'running', at: at(60) },
  ],
  steps: [],
} as unknown as NonNullable<RunFacts['local']>;

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
const none = noOutcomes();

/** What changes in a run that is running. */
const cases: readonly (readonly [what: string, changes: Partial<RunFacts>])[] = [
  ['running', {}],
  ['no rate, process or worker is known', { ...unknown, workers: [] }],
  ['doubtful rows', { local }],
  ['a silent process', { coordinator: { ...coordinator, seenAt: at(180) } }],
  ['processes of two versions', { workers: [worker, { ...worker, pid: 72, version: '1.1.0' }] }],
  ['a worker that makes only single calls', { workers: [{ ...worker, outage }] }],
  ...progressScenes,
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

const zoneless = (text: string): string => text.replaceAll(/ UTC(?:[+-]\d+(?::\d\d)?)?/g, ' UTC');

describe('the status', () => {
  test('shows the progress of a run and its processes', async () => {
    await expect(zoneless(scenes(cases, statusText))).toMatchFileSnapshot('../screens/status.txt');
  });

  test('fits on one line', async () => {
    await expect(zoneless(scenes(cases, statusLine))).toMatchFileSnapshot('../screens/status-line.txt');
  });
});

describe('the document', () => {
  test('has the same facts', () => {
    const { id: _, baseUrl, startedAt: started_at, seenAt: seen_at, ...ofWorker } = worker;
    const view = {
      ...running,
      local: { ...local, retryOf: 'before' },
      wait: { of: 'worker', text, command: 'cqbatch worker' } as const,
    };
    expect(statusDocument(view)).toEqual({
      run: 'monthly',
      state: 'running',
      because: null,
      manifest: 'rows.csv',
      base_url: baseUrl,
      rows: 12_000,
      done: 4_512,
      outcomes: running.counts,
      unclear: 3,
      codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 32 }],
      wanted_rate: 'auto',
      priority: 'normal',
      rows_per_s: 640,
      pace: null,
      process: { pid: 42, host: 'beta', version: '1.2.3' },
      workers: [{ ...ofWorker, started_at, seen_at }],
      states: local.states,
      waiting: text,
      retry_of: 'before',
    });
  });

  test('has the allowed rate, an outage, and what asks for a wait', () => {
    const away = { reason: '503 try later.', since: at(90), gives_up_at: at(-810) };
    const pace = pacedBy({ wait_until: at(-7_200), wait_by: 'Retry-After: 7200', away });
    const { phase: _, bound_by: __, ...shown } = pace;
    expect(statusDocument({ ...running, pace })).toMatchObject({ pace: shown });
    const wait = { of: 'api', text: 'the API asks to wait', until: at(-9), advice: 'wait' } as const;
    expect(statusDocument({ ...running, wait })).toMatchObject({ waiting: 'the API asks to wait; wait' });
  });

  test.each(['guard', 'canary', 'stuck'])(
    'says whether a guard halted the run, or it gave up: %s',
    (because) => {
      expect(statusDocument({ ...running, state: 'halted', because })).toMatchObject({
        state: 'halted',
        because,
      });
    },
  );

  test('has null for facts that only another machine knows', () => {
    const nothing = { unclear: null, codes: null, rows_per_s: null, process: null, states: null };
    expect(statusDocument({ ...running, ...unknown })).toMatchObject(nothing);
  });
});
