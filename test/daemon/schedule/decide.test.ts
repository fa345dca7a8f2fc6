import { describe, expect, test } from 'vitest';
import { decide, type Situation } from '../../../src/daemon/schedule/decide.ts';
import {
  type HistoryEntry,
  newState,
  type Schedule,
  type ScheduleState,
} from '../../../src/daemon/schedule/schedule.ts';
import { timesOf } from '../../../src/daemon/schedule/times.ts';
import { nightly } from './nightly.ts';

const at = (time: string): string => `2026-11-${time}:00.000Z`;

/** The decision at a time in November, for a state that has dealt with everything before another time. */
async function decided(
  changes: Partial<Schedule>,
  state: Partial<ScheduleState>,
  now: string,
  situation: Partial<Situation> = {},
): Promise<ScheduleState> {
  const schedule = { ...nightly, ...changes };
  const seen = { now: new Date(at(now)), times: await timesOf(schedule), ...situation };
  return decide(schedule, { ...newState, ...state }, seen);
}

const done = (time: string): Partial<ScheduleState> => ({ doneUntil: at(time) });
const trigger = { at: at('05T12:00'), reason: 'now' };
const triggered = { due: trigger.at, trigger };

describe('a schedule', () => {
  const runInProgress = { runInProgress: 'nightly-20261104-020000' };

  test('starts a run when it is due, and only one', async () => {
    const first = await decided({}, done('04T02:00'), '05T02:00');
    expect(first).toMatchObject({ ...done('05T02:00'), beginning: { due: at('05T02:00') }, history: [] });
    const { beginning: _, ...after } = first;
    expect(await decided({}, after, '05T02:01')).toEqual(after);
    // The successor of a process that died while starting a run first finishes that.
    expect(await decided({}, first, '06T02:00')).toEqual(first);
  });

  test('is not due for times before it was added, unpaused or changed', async () => {
    expect(await decided({ since: at('05T02:00') }, {}, '05T09:00')).toEqual(newState);
    expect(await decided({ since: at('05T01:59') }, {}, '05T02:00')).toHaveProperty('beginning');
  });

  test('makes up for the last of several missed times, unless it is too late', async () => {
    expect(await decided({}, done('02T02:00'), '05T02:59')).toMatchObject({
      beginning: { due: at('05T02:00') },
      history: [{ result: 'missed', due: at('03T02:00'), until: at('04T02:00'), at: at('05T02:59') }],
    });
    const late = await decided({}, done('02T02:00'), '05T03:01');
    expect(late).toMatchObject({
      doneUntil: at('05T02:00'),
      history: [{ result: 'missed', due: at('03T02:00'), until: at('05T02:00') }],
    });
    expect(late).not.toHaveProperty('beginning');
  });

  test('makes up for no time without catch-up, except a delay of seconds', async () => {
    const strict = { catchUpMs: null };
    expect(await decided(strict, done('04T02:00'), '05T02:01')).toHaveProperty('beginning');
    const late = await decided(strict, done('04T02:00'), '05T02:02');
    expect(late).toMatchObject({ history: [{ result: 'missed', due: at('05T02:00') }] });
    expect(late.history[0]).not.toHaveProperty('until');
  });

  test('is due again when the clock, which was ahead, is set back', async () => {
    for (const ahead of [{ since: '2030-01-01T00:00:00.000Z' }, {}]) {
      const back = await decided(ahead, { doneUntil: '2030-01-02T02:00:00.000Z' }, '04T09:00');
      expect(back).toEqual({ ...newState, ...done('04T09:00') });
      expect(await decided(ahead, back, '05T01:59')).toEqual(back);
      expect(await decided(ahead, back, '05T02:00')).toMatchObject({ beginning: { due: at('05T02:00') } });
    }
  });

  test('is not due twice when clocks differ a little, or one is set back a little', async () => {
    const state = { ...newState, ...done('05T02:00') };
    for (const now of ['05T01:01', '05T01:59', '05T02:00'])
      expect(await decided({}, state, now)).toEqual(state);
  });

  test('skips times during its run, as one entry', async () => {
    const first = await decided({}, done('04T02:00'), '05T02:00', runInProgress);
    const second = await decided({}, first, '06T02:00', runInProgress);
    expect(second.history).toEqual([
      { result: 'skipped', due: at('05T02:00'), until: at('06T02:00'), because: runInProgress.runInProgress },
    ]);
    expect(await decided({}, second, '07T02:00')).toMatchObject({ beginning: { due: at('07T02:00') } });
  });

  test('queues one time with --overlap queue', async () => {
    const overlap = { overlap: 'queue' } as const;
    const first = await decided(overlap, done('04T02:00'), '05T02:00', runInProgress);
    expect(first).toMatchObject({ waiting: { due: at('05T02:00') }, history: [] });
    const second = await decided(overlap, first, '06T02:00', runInProgress);
    expect(second).toMatchObject({ waiting: { due: at('05T02:00') } });
    expect(second.history).toMatchObject([{ result: 'skipped', due: at('06T02:00') }]);
    const third = await decided(overlap, second, '06T03:00');
    expect(third).toMatchObject({ beginning: { due: at('05T02:00') } });
    expect(third).not.toHaveProperty('waiting');
    // The next time comes when the queued one starts: it waits in turn.
    expect(await decided(overlap, second, '07T02:00')).toMatchObject({
      beginning: { due: at('05T02:00') },
      waiting: { due: at('07T02:00') },
    });
  });

  test('starts nothing while it is paused, unless it is triggered', async () => {
    const paused = { paused: true };
    expect(await decided(paused, done('04T02:00'), '05T02:00')).toEqual({ ...newState, ...done('04T02:00') });
    expect(await decided(paused, done('04T02:00'), '05T12:00', { trigger })).toMatchObject({
      beginning: triggered,
    });
    // An occasion that waited when the schedule was paused is dropped.
    expect(await decided(paused, { waiting: { due: at('04T02:00') } }, '05T12:00')).toEqual({
      ...newState,
      history: [{ result: 'skipped', due: at('04T02:00'), because: 'paused' }],
    });
  });

  test('never has two runs at a time, however it was triggered', async () => {
    expect(await decided({}, done('05T02:00'), '05T12:00', { trigger, ...runInProgress })).toMatchObject({
      history: [{ ...triggered, result: 'skipped', because: runInProgress.runInProgress }],
    });
    expect(await decided({}, done('04T02:00'), '05T02:00', { trigger })).toMatchObject({
      beginning: { due: at('05T02:00') },
      history: [{ ...triggered, result: 'skipped' }],
    });
    expect(await decided({ overlap: 'queue' }, done('04T02:00'), '05T02:00', { trigger })).toMatchObject({
      beginning: { due: at('05T02:00') },
      waiting: triggered,
    });
  });

  test('keeps a bounded history', async () => {
    const entry: HistoryEntry = { result: 'began', due: at('01T02:00'), at: at('01T02:00'), runs: ['a'] };
    const history = Array.from({ length: 300 }, () => entry);
    const after = await decided({}, { ...done('02T02:00'), history }, '05T12:00');
    expect(after.history).toHaveLength(300);
    expect(after.history.at(-1)).toMatchObject({ result: 'missed' });
  });
});
