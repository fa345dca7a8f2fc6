import { describe, expect, test } from 'vitest';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import {
  actualState,
  enterState,
  goesOnAfterHalt,
  goesOnByItself,
  isSubmittedAfterStop,
  type RunRecord,
  type RunState,
  runRecordSchema,
} from '../../../../src/engine/run/record/record.ts';
import { plannedRecord } from '../planned-record.ts';

const record: RunRecord = { ...plannedRecord, states: [] };

const here = thisProcess();

describe('actualState', () => {
  test.each([
    ['running, in this process', here, 'running'],
    ['interrupted, when the process is gone', { ...here, pid: 2 ** 22 + 1 }, 'interrupted'],
    ['interrupted, when its number now belongs to another process', { ...here, started: '1' }, 'interrupted'],
    ['as recorded, when it is on another machine', { ...here, host: 'elsewhere', pid: 1 }, 'running'],
  ])('is %s', (_title, process, expected) => {
    expect(actualState({ ...record, state: 'running', process })).toBe(expected);
  });
});

describe('goesOnByItself', () => {
  const dead = { ...here, pid: 2 ** 22 + 1 };
  test.each<[string, boolean, RunState, Partial<RunRecord>]>([
    ['a submitted run', true, 'submitted', { submitted: true }],
    ['a running run', true, 'running', { process: here }],
    ['a run whose process died', false, 'running', { process: dead }],
    ['a paused run whose process died', false, 'paused', { process: dead }],
    ['a submitted run whose coordinator died', true, 'running', { process: dead, submitted: true }],
    ['a submitted run whose coordinator failed', false, 'failed', { process: dead, submitted: true }],
    ['a completed run', false, 'completed', { process: here }],
  ])('of %s is %s', (_title, expected, state, more) => {
    expect(goesOnByItself({ ...record, state, ...more })).toBe(expected);
  });
});

describe('a run that is submitted after it had stopped', () => {
  const at = '2026-01-01T00:00:00.000Z';
  test.each<
    [string, readonly RunRecord['states'][number][], readonly [afterHalt: boolean, afterStop: boolean]]
  >([
    ['halted', [{ state: 'halted', at, because: 'guard' }], [true, true]],
    [
      'halted, and was settled since',
      [
        { state: 'halted', at },
        { state: 'submitted', at },
      ],
      [true, true],
    ],
    ['gave up', [{ state: 'halted', at, because: 'stuck' }], [false, true]],
    ['was interrupted', [{ state: 'interrupted', at }], [false, true]],
    [
      'was handed over',
      [
        { state: 'halted', at },
        { state: 'running', at },
      ],
      [false, false],
    ],
    ['was planned', [{ state: 'planned', at }], [false, false]],
  ])('after it %s', (_title, states, [afterHalt, afterStop]) => {
    const submitted = enterState({ ...record, states: [...states] }, 'submitted');
    expect([goesOnAfterHalt(submitted), isSubmittedAfterStop(submitted)]).toEqual([afterHalt, afterStop]);
    const taken = enterState(submitted, 'running');
    expect([goesOnAfterHalt(taken), isSubmittedAfterStop(taken)]).toEqual([false, false]);
  });
});

describe('run.json', () => {
  test('of an earlier version, with the rate in an older form, can still be read', () => {
    const rate = { text: '50/s', perSecond: 50, limit: { calls: 5, perMs: 100 } };
    const earlier = { ...record, options: { ...record.options, concurrency: 50, rate } };
    const read = runRecordSchema.parse(JSON.parse(JSON.stringify(earlier)));
    expect(read.options).toMatchObject({
      concurrency: 50,
      rate: { text: '50/s', auto: false, perSecond: 50 },
    });
  });

  test('of a version with fewer outcomes counts the rows of the others', () => {
    const earlier = { ...record, counts: { succeeded: 3, failed: 1 } };
    expect(runRecordSchema.parse(earlier).counts).toEqual({ ...noOutcomes(), succeeded: 3, failed: 1 });
  });
});
