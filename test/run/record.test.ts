import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { processStart } from '../../src/process.ts';
import { actualState, enterState, type RunRecord } from '../../src/run/record.ts';

const record: RunRecord = {
  version: 1,
  id: '20260101-000000-aaaa',
  state: 'planned',
  states: [],
  manifest: { name: 'm.csv', file: 'manifest.csv', sha256: '', bytes: 0 },
  plan: { rows: 1, callable: 1, invalid: 0, duplicates: 0, columns: [], operations: [] },
  options: {
    baseUrl: 'http://127.0.0.1/',
    clearToken: '<clear>',
    concurrency: 1,
    attempts: 1,
    timeoutMs: 1,
    backoffMs: 1,
  },
};

const here = { pid: process.pid, host: hostname(), started: processStart(process.pid) ?? '' };

describe('actualState', () => {
  test.each([
    ['running, by this very process', here, 'running'],
    ['interrupted, when the process is gone', { ...here, pid: 2 ** 22 + 1 }, 'interrupted'],
    ['interrupted, when its number belongs to another process now', { ...here, started: '1' }, 'interrupted'],
    ['believed, when it is on another machine', { ...here, host: 'elsewhere', pid: 1 }, 'running'],
  ])('is %s', (_title, process, expected) => {
    expect(actualState({ ...record, state: 'running', process })).toBe(expected);
  });

  test('is what the record says for every other state', () => {
    expect(actualState({ ...record, state: 'cancelled' })).toBe('cancelled');
  });
});

describe('enterState', () => {
  test('keeps every state with its time and reason, and who runs', () => {
    const ended = enterState(enterState(record, 'running'), 'halted', 'too many failures');
    expect(ended.states.map(({ state, reason }) => [state, reason])).toEqual([
      ['running', undefined],
      ['halted', 'too many failures'],
    ]);
    expect(ended.process).toEqual(here);
  });
});
