import { hostname } from 'node:os';
import fc from 'fast-check';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import type { RunRecord, RunState } from '../../../../src/engine/run/record/record.ts';
import {
  activeTime,
  RecordKeeper,
  saveTimeEveryMs,
  stopsOf,
  withCrashedTime,
} from '../../../../src/engine/run/record/record-keeper.ts';
import { plannedRecord } from '../planned-record.ts';

/** A moment this many seconds after the run was started. */
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

type Entry = RunRecord['states'][number];

/** The record of a run on which no process works. */
function recordOf(...states: readonly Entry[]): RunRecord {
  const state = states.at(-1)?.state ?? 'planned';
  return { ...plannedRecord, state, states: [...plannedRecord.states, ...states] };
}

test('a run was not in progress from a stop, a pause or a crash until it was resumed', () => {
  const record = recordOf(
    { state: 'running', at: at(0), atWorkMs: 60_000 },
    { state: 'interrupted', at: at(60) },
    { state: 'submitted', at: at(70) },
    { state: 'running', at: at(90), atWorkMs: 10_000 },
    { state: 'paused', at: at(100), reason: 'maintenance' },
    { state: 'running', at: at(200), atWorkMs: 5_000 },
    { state: 'running', at: at(400), atWorkMs: 20_000 },
    { state: 'completed', at: at(420) },
  );
  expect(stopsOf(record)).toEqual([
    { from: at(60), to: at(90), state: 'interrupted' },
    { from: at(100), to: at(200), state: 'paused', reason: 'maintenance' },
    { from: at(205), to: at(400), state: 'interrupted' },
  ]);
});

describe('the duration of a run', () => {
  const running = (seconds: number, more: Partial<Entry> = {}): Entry => ({
    state: 'running',
    at: at(seconds),
    ...more,
  });
  const completed = (seconds: number): Entry => ({ state: 'completed', at: at(seconds) });
  const stop: Entry = { state: 'interrupted', at: at(60) };
  const resumed = [running(9_000, { atWorkMs: 1_500 }), completed(9_002)];
  const noted = [running(0, { notedMs: 5_000 })];
  const killed = running(0, { notedMs: 60_000 });
  const worked = running(0, { atWorkMs: 60_000 });

  test.each<[title: string, states: readonly Entry[], lastFinishedAt: string | undefined, ms: number]>([
    ['of a run that never started', [], undefined, 0],
    ['is what the process measured, whatever the clock showed', [worked, completed(-3_540)], at(30), 60_000],
    ['leaves out the time between a stop and a resume', [worked, stop, ...resumed], at(9_001), 61_500],
    ['leaves out the time between a kill and a resume', [killed, ...resumed], at(9_001), 66_500],
    ['continues from what a killed process noted to the last result', noted, at(8), 8_000],
    ['does not fall below what was noted when the clock was set back', noted, at(-3_000), 5_000],
    ['does not exceed what would have been noted', noted, at(3_000), 5_000 + saveTimeEveryMs],
    ['counts for a process killed before its first result', [running(0, { notedMs: 0 })], undefined, 0],
    ['of an earlier version comes from its times of day', [running(0), completed(90)], at(80), 90_000],
    ['of an earlier version is never negative', [running(0), completed(-90)], at(-91), 0],
  ])('%s', (_title, states, lastFinishedAt, expected) => {
    expect(activeTime(recordOf(...states), lastFinishedAt)).toBe(expected);
  });

  test('grows during a run, by at most what its process has not noted yet', () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const process_ = thisProcess();
    const running = (entry: Entry) => ({ ...recordOf(entry), process: process_ });
    const started = new Date(Date.now() - 7_000).toISOString();
    const time = activeTime(running({ state: 'running', at: started, notedMs: 5_000 }), undefined);
    expect(time).toBe(7_000);
  });

  test('of a dead process is recorded when another process takes the run', () => {
    const dead = recordOf({ state: 'running', at: at(0), notedMs: 5_000 });
    const taken = withCrashedTime(dead, at(8));
    expect(taken.states.at(-1)).toEqual({ state: 'running', at: at(0), atWorkMs: 8_000 });
    expect(withCrashedTime(taken, at(5_000))).toEqual(taken);
    const stopped = recordOf({ state: 'running', at: at(0), atWorkMs: 1 }, { state: 'halted', at: at(1) });
    expect(withCrashedTime(stopped, at(8))).toBe(stopped);
  });
});

describe('a process that works on a run', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function keep(record = plannedRecord) {
    vi.useFakeTimers();
    const saved: RunRecord[] = [];
    let writing = 0;
    const keeper = new RecordKeeper(
      {
        async save(written) {
          writing += 1;
          expect(writing).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, 10));
          saved.push(written);
          writing -= 1;
        },
      },
      record,
    );
    return { keeper, saved, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
  }

  test('counts its own time, whatever happens to clocks, and not while it pauses', async () => {
    const happening = fc.oneof(
      fc.record({ type: fc.constant('pass' as const), ms: fc.nat({ max: 20_000 }) }),
      fc.record({ type: fc.constant('set' as const), byMs: fc.integer({ min: -4_000_000, max: 4_000_000 }) }),
      fc.record({
        type: fc.constant('enter' as const),
        state: fc.constantFrom<RunState>('running', 'paused'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happened) => {
        const { keeper, saved, pass } = keep();
        keeper.enter('running');
        await Promise.all([keeper.save(), pass(10)]);
        let expected = 10;
        for (const each of happened) {
          if (each.type === 'pass') {
            await pass(each.ms);
            if (keeper.record.state === 'running') expected += each.ms;
          }
          if (each.type === 'set') vi.setSystemTime(Date.now() + each.byMs);
          if (each.type === 'enter' && each.state !== keeper.record.state) keeper.enter(each.state);
        }
        // A kill at this moment would lose at most what is noted next.
        const lastSaved = saved.at(-1);
        if (lastSaved !== undefined && happened.every(({ type }) => type !== 'enter')) {
          const dead = activeTime(
            { ...lastSaved, process: { pid: 2 ** 22 + 1, host: hostname(), started: '' } },
            undefined,
          );
          expect(expected - dead).toBeLessThanOrEqual(saveTimeEveryMs + 20);
          expect(dead).toBeLessThanOrEqual(expected);
        }
        keeper.enter('completed');
        expect(activeTime(keeper.record, undefined)).toBe(expected);
        keeper.close();
      }),
      { numRuns: 50 },
    );
  });

  test('writes the record from time to time while it works, and no longer once closed', async () => {
    const { keeper, saved, pass } = keep();
    keeper.enter('running');
    await pass(60_000);
    expect(saved).toEqual([]);
    await Promise.all([keeper.save(), pass(10)]);
    await pass(3 * saveTimeEveryMs);
    expect(saved.map(({ states }) => states.at(-1)?.notedMs)).toEqual(
      [0, 1, 2, 3].map((times) => expect.closeTo(60_000 + times * saveTimeEveryMs, -2)),
    );
    keeper.enter('paused');
    await pass(60_000);
    expect(saved).toHaveLength(4);
    keeper.enter('running');
    keeper.close();
    await pass(60_000);
    expect(saved).toHaveLength(4);
  });

  test('writes nothing by itself just after it was suspended: another process may have taken the run', async () => {
    const { keeper, saved, pass } = keep();
    keeper.enter('running');
    await Promise.all([keeper.save(), pass(10)]);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 120_000);
    await pass(saveTimeEveryMs);
    expect(saved).toHaveLength(1);
    vi.restoreAllMocks();
    keeper.close();
  });

  test('writes one record at a time, the last one last, even after a failed one', async () => {
    vi.useFakeTimers();
    const states: string[] = [];
    let failures = 1;
    const keeper = new RecordKeeper(
      {
        async save({ state }) {
          await new Promise((resolve) => setTimeout(resolve, failures > 0 ? 100 : 10));
          failures -= 1;
          if (failures >= 0) throw new Error('disk full');
          states.push(state);
        },
      },
      plannedRecord,
    );
    keeper.enter('running');
    const first = keeper.save();
    keeper.enter('completed');
    const second = keeper.save();
    const outcome = Promise.allSettled([first, second]);
    await vi.advanceTimersByTimeAsync(200);
    expect((await outcome).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(states).toEqual(['completed']);
    keeper.close();
  });
});
