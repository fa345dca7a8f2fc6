import { expect, test } from 'vitest';
import { auditText, eventsOf } from '../../../src/cli/render/audit.ts';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import { briefOfRecord } from '../../../src/engine/run/facts/make-facts.ts';
import type { RunRecord } from '../../../src/engine/run/record/record.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';

const by = { user: 'ann', host: 'desk', version: '0.0.1' };
const at = '2026-01-01T10:00:00.000Z';

function recordIn(...states: RunRecord['states']): RunRecord {
  return { ...plannedRecord, states, state: states.at(-1)?.state ?? 'planned' };
}

test('distinguishes start, unpause and resume', () => {
  const states = ['planned', 'running', 'paused', 'running', 'interrupted', 'running', 'completed'] as const;
  expect(eventsOf(recordIn(...states.map((state) => ({ state, at })))).map(({ event }) => event)).toEqual([
    ...['planned', 'begun', 'paused', 'unpaused', 'interrupted', 'resumed', 'completed'],
  ]);
});

test('shows that the process of a run died', () => {
  const record = recordIn({ state: 'planned', at }, { state: 'running', at });
  expect(eventsOf({ ...record, process: { pid: 1, host: 'x', started: '' } }).at(-1)?.event).toBe('begun');
  expect(eventsOf(record).at(-1)).toEqual({ event: 'interrupted', reason: 'its process died' });
});

test('shows who did what and why, and what is invisible in a reason', () => {
  const reason = 'two\nlines \u202e reversed';
  const record = recordIn({ state: 'planned', at, by, reason }, { state: 'cancelled', at, by, reason });
  const text = withoutMarks(
    auditText({ record, facts: briefOfRecord(record), folder: 'f', retries: [], undos: [] }),
  );
  expect(text).toContain('cancelled  by ann on desk with cqbatch 0.0.1: two\\nlines \\u202e reversed');
});

test('shows the start, the result of a canary, and rates', () => {
  const record: RunRecord = {
    ...recordIn({ state: 'planned', at, by }, { state: 'running', at, by }, { state: 'completed', at }),
    canary: { at, rows: 10, failed: 1, wentOn: true },
    rates: [{ rate: '20/s', at, by, reason: 'slow' }],
  };
  const text = withoutMarks(
    auditText({ record, facts: briefOfRecord(record), folder: 'f', retries: [], undos: [] }),
  );
  expect(text).toMatch(/canary +10 rows, 1 failed: continued\n/);
  expect(text).toMatch(/UTC\S* +started +by ann on desk/);
  expect(text).toMatch(/rate 20\/s +by ann on desk with cqbatch 0\.0\.1: slow$/m);
});

test('says in its head and its history that a run gave up, as the status does', () => {
  const record = recordIn({ state: 'planned', at }, { state: 'halted', at, because: 'stuck' });
  const text = withoutMarks(
    auditText({ record, facts: briefOfRecord(record), folder: 'f', retries: [], undos: [] }),
  );
  expect(text).toMatch(/^Run \S+ gave up\n/);
  expect(text).toMatch(/UTC\S* +gave up$/m);
});
