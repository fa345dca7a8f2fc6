import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { withScope } from '../../../../src/base/async/scope.ts';
import { silentLog } from '../../../../src/base/log.ts';
import type { Datastore } from '../../../../src/engine/datastore/datastore.ts';
import type { OpenRun } from '../../../../src/engine/run/record/open-run.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { runPolicy } from '../../../../src/engine/run/record/run-policy.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import type {
  ExecutedRun,
  ExecuteRunOptions,
  OpenPart,
  RunObserver,
  RunPart,
  StopCommand,
  StopPhase,
} from '../../../../src/engine/run/work/run-in-progress.ts';
import { built } from '../../../helpers/built.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';
import { plannedRecord } from '../planned-record.ts';

const { openEmbedded } = await built<typeof import('../../../../src/engine/datastore/embedded/embedded.ts')>(
  'engine/datastore/embedded/embedded',
);
const { openRowQueue } =
  await built<typeof import('../../../../src/engine/queue/row-queue.ts')>('engine/queue/row-queue');
const { openJournal } =
  await built<typeof import('../../../../src/engine/journal/open.ts')>('engine/journal/open');
const { answerFile } = await built<typeof import('../../../../src/engine/run/record/answer-file.ts')>(
  'engine/run/record/answer-file',
);
const { RunLoop } =
  await built<typeof import('../../../../src/engine/run/work/run-loop.ts')>('engine/run/work/run-loop');

afterEach(() => {
  vi.useRealTimers();
});

/** A run of two rows that starts with these parts. */
async function withTwoRows(
  changes: { readonly record?: Partial<RunRecord>; readonly lost?: AbortSignal },
  work: (
    run: OpenRun,
    begin: (options?: Partial<ExecuteRunOptions>, ...parts: OpenPart[]) => Promise<ExecutedRun>,
  ) => Promise<void>,
): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'cqbatch-run-loop-'));
  const datastore = await openEmbedded({ stateDir, purpose: 'test' });
  const rows = openRowQueue(datastore, { baseUrl: 'rows-1' });
  const journal = await openJournal(join(stateDir, 'journal.jsonl'), { runId: plannedRecord.id });
  const { lost = new AbortController().signal } = changes;
  const answers = answerFile(stateDir);
  const store = { ...openRunStore(stateDir, operations), save: async () => {} };
  const record = {
    ...plannedRecord,
    plan: { ...plannedRecord.plan, rows: 2, callable: 2 },
    ...changes.record,
  };
  const policy = runPolicy(record, journal, operations);
  const run: OpenRun = { store, record, datastore, rows, journal, policy, answers, lost };
  await work(run, (options = {}, ...parts) =>
    withScope((defer) => {
      const interrupt = new AbortController().signal;
      const given = {
        store,
        record,
        datastore,
        log: silentLog,
        interrupt,
        version: 'test',
        client: undefined,
      };
      const inProgress = { ...run, datastore: options.datastore ?? datastore };
      return new RunLoop(inProgress, rowsInMemory([]), { ...given, ...options }, parts).untilReported(defer);
    }),
  );
  await journal.close();
  await rows.close();
  await datastore.close();
  await rm(stateDir, { recursive: true });
}

/** Writes down what it is asked, and stops the run as told. */
function witness(commands: { readonly [Phase in StopPhase]?: StopCommand[] } = {}, stages = 1) {
  const seen: string[] = [];
  let left = stages;
  const part: RunPart = {
    seeEvent: (event) => void seen.push(event.type === 'paused' ? `paused: ${event.paused}` : event.type),
    onStop(phase, stop) {
      const command = commands[phase]?.shift();
      if (command !== undefined) stop(command);
      return () => {};
    },
    async beforeFeeding() {
      seen.push('before feeding');
    },
    async nextStage() {
      left -= 1;
      return left === 0 ? { state: 'completed' } : undefined;
    },
    async finish() {
      seen.push('finish');
    },
  };
  return { seen, open: () => part };
}

const ann = { user: 'ann', host: 'laptop' };
const ben = { user: 'ben', host: 'server' };
const withoutRows = { plan: { ...plannedRecord.plan, rows: 0, callable: 0 } };

describe('a run in progress', () => {
  test('goes from stage to stage, and asks its parts before each', () =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const { seen, open } = witness({}, 2);
      const { end, record } = await begin({}, open);
      expect(end).toEqual({ state: 'completed' });
      expect(record.states.map(({ state }) => state)).toEqual(['planned', 'running', 'completed']);
      expect(seen).toEqual(['before feeding', 'before feeding', 'called', 'finish', 'ended']);
    }));

  test('pauses and goes on as its parts tell, with their users', () =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const { seen, open } = witness({
        feeding: [{ state: 'paused', by: ann }],
        paused: [{ state: 'unpaused', by: ben }],
      });
      const { record } = await begin({}, open);
      expect(record.states).toMatchObject([
        { state: 'planned' },
        { state: 'running' },
        { state: 'paused', by: ann },
        { state: 'running', by: ben },
        { state: 'completed' },
      ]);
      expect(seen.slice(0, 4)).toEqual(['before feeding', 'paused: true', 'paused: false', 'before feeding']);
    }));

  test('pauses between stages, says why, and calls the next stage when it is unpaused', () =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const { seen, open } = witness({ 'paused by canary': [{ state: 'unpaused', by: ben }] });
      const pause = { state: 'paused', because: 'canary', reason: 'the first row is done' } as const;
      const next = vi
        .fn<NonNullable<RunPart['nextStage']>>()
        .mockResolvedValueOnce(pause)
        .mockResolvedValueOnce({ state: 'completed' });
      const { record } = await begin({}, () => ({ nextStage: next }), open);
      expect(record.states).toMatchObject([
        { state: 'planned' },
        { state: 'running' },
        pause,
        { state: 'running', by: ben },
        { state: 'completed' },
      ]);
      expect(seen.slice(0, 4)).toEqual(['before feeding', 'paused: true', 'paused: false', 'before feeding']);
    }));

  test('is cancelled while it has paused itself', () =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const cancel: StopCommand = { state: 'cancelled', by: ann };
      const { open } = witness({ 'paused by canary': [cancel] });
      const nextStage = async () => ({ state: 'paused', because: 'canary' }) as const;
      expect((await begin({}, () => ({ nextStage }), open)).end).toEqual(cancel);
    }));

  test.each(['feeding', 'paused', 'between stages'] as const)('is cancelled while %s', (phase) =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const cancel: StopCommand = { state: 'cancelled', by: ann };
      const commands = { feeding: [{ state: 'paused' } as const], [phase]: [cancel] };
      const { open } = witness(phase === 'between stages' ? { [phase]: [cancel] } : commands);
      expect((await begin({}, open)).end).toEqual(cancel);
    }),
  );

  test('writes a report, unless another process takes the run over', () =>
    withTwoRows({ record: withoutRows }, async (_, begin) => {
      const report = vi.fn<NonNullable<RunPart['report']>>(async () => ({ steps: [] }) as never);
      const { open } = witness({ feeding: [{ state: 'interrupted' }] });
      const left = await begin({ handOver: true }, open, () => ({ report }));
      expect([left.record.state, left.reports]).toEqual(['submitted', undefined]);
      expect(report).not.toHaveBeenCalled();
      const ended = await begin({ handOver: true }, () => ({ report }));
      expect([ended.record.state, ended.reports]).toEqual(['completed', { steps: [] }]);
    }));

  test('keeps its budget from its claim on, so that a process that takes it over at once has it', () =>
    withTwoRows({ record: { ...withoutRows, budget: { maxRows: 3 } } }, async (_, begin) => {
      const { open } = witness({ feeding: [{ state: 'interrupted' }] });
      expect((await begin({ handOver: true }, open)).record.budget).toEqual({ maxRows: 3 });
      expect((await begin({}, open)).record.budget).toBeUndefined();
    }));

  test('tells its observer how it ended, for how long it was active, and that it failed', () =>
    withTwoRows({ record: withoutRows }, async (run, begin) => {
      const told: unknown[] = [];
      const observer: RunObserver = {
        runStarted: () => ({ runEnded: (end) => void told.push(end) }),
        rowsFinished: () => {},
      };
      await begin({ observer });
      await begin({ observer, handOver: true }, witness({ feeding: [{ state: 'interrupted' }] }).open);
      vi.spyOn(run.journal, 'append').mockRejectedValue(new Error('the disk is full'));
      await expect(begin({ observer })).rejects.toThrow('the disk is full');
      expect(told).toEqual([
        { result: 'succeeded', durationMs: expect.any(Number) },
        undefined,
        { result: 'failed' },
      ]);
      vi.restoreAllMocks();
    }));

  test('calls nothing if its journal has more failures than its guard allows', () =>
    withTwoRows({ record: { options: { ...plannedRecord.options, maxFailures: 0 } } }, async (run, begin) => {
      const result = {
        row: 1,
        operation: 'restore-evaluation',
        outcome: 'failed' as const,
        code: 'NOT_FOUND',
        message: '',
        attempts: 1,
        unclear: false,
      };
      await run.journal.append([{ type: 'row', result }]);
      const client = { send: vi.fn() } as unknown as NonNullable<ExecuteRunOptions['client']>;
      const { end } = await begin({ client });
      expect(end).toMatchObject({ state: 'halted', because: 'guard', rowToSee: { row: 1 } });
      expect(client.send).not.toHaveBeenCalled();
    }));

  test('accepts the failures of a halted run that a user has handed to a daemon', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const states: RunRecord['states'] = [
      { state: 'planned', at },
      { state: 'halted', at, because: 'guard' },
      { state: 'submitted', at },
    ];
    const options = { ...plannedRecord.options, maxFailures: 0 };
    return withTwoRows({ record: { state: 'submitted', states, options } }, async (run, begin) => {
      const failure = {
        outcome: 'failed',
        code: 'NOT_FOUND',
        message: '',
        attempts: 1,
        unclear: false,
      } as const;
      await run.journal.append([{ type: 'row', result: { row: 1, operation: 'x', ...failure } }]);
      const { open } = witness({ feeding: [{ state: 'interrupted' }] });
      const { end } = await begin({ handOver: true }, open);
      expect(end).toEqual({ state: 'interrupted' });
      expect(run.journal.failures.summary).toBeUndefined();
    });
  });

  test('ends with its datastore, and says so', () =>
    withTwoRows(
      { record: withoutRows, lost: AbortSignal.abort(new Error('Redis refuses')) },
      async (_, begin) => {
        const { seen, open } = witness();
        await expect(begin({}, open)).rejects.toThrow('Redis refuses');
        expect(seen).toEqual(['before feeding', 'failed']);
      },
    ));

  test('is given up by a stop when a shared datastore does not answer', () =>
    withTwoRows({ record: withoutRows }, async ({ datastore }, begin) => {
      const silent: Datastore = Object.create(datastore, {
        exclusive: { value: false },
        trouble: { value: 'Redis does not answer' },
        epoch: { value: () => new Promise(() => {}) },
      });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const interrupt = new AbortController();
      const { open } = witness();
      const begun = begin({ interrupt: interrupt.signal, datastore: silent }, open);
      interrupt.abort();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await begun).end).toEqual({ state: 'interrupted' });
    }));
});
