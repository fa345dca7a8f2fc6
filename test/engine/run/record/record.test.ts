import { describe, expect, test } from 'vitest';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import {
  actualState,
  goesOnByItself,
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

  test('is the recorded one in every other state', () => {
    expect(actualState({ ...record, state: 'cancelled' })).toBe('cancelled');
  });
});

describe('goesOnByItself', () => {
  const dead = { ...here, pid: 2 ** 22 + 1 };
  test.each<[string, boolean, RunState, Partial<RunRecord>]>([
    ['a planned run', false, 'planned', {}],
    ['a submitted run', true, 'submitted', { submitted: true }],
    ['a running run', true, 'running', { process: here }],
    ['a paused run', true, 'paused', { process: here }],
    ['a run whose process died', false, 'running', { process: dead }],
    ['a paused run whose process died', false, 'paused', { process: dead }],
    ['a submitted run whose coordinator died', true, 'running', { process: dead, submitted: true }],
    ['a submitted run whose coordinator failed', false, 'failed', { process: dead, submitted: true }],
    ['an interrupted run', false, 'interrupted', { process: here }],
    ['a halted run', false, 'halted', { process: here }],
    ['a completed run', false, 'completed', { process: here }],
    ['a cancelled run', false, 'cancelled', { process: here }],
  ])('of %s is %s', (_title, expected, state, more) => {
    expect(goesOnByItself({ ...record, state, ...more })).toBe(expected);
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

  test.each([
    ['as many calls as the API bears', { concurrency: 'auto', rate: { text: 'auto', auto: true } }],
    ['its limit up to a bound', { concurrency: 5, rate: { text: 'auto..50/s', auto: true, perSecond: 50 } }],
    ['no limit', { concurrency: 1_000 }],
  ])('keeps a request for %s', (_title, changes) => {
    const wanted = { ...record, options: { ...record.options, ...changes } };
    expect(runRecordSchema.parse(JSON.parse(JSON.stringify(wanted)))).toEqual(wanted);
  });
});
