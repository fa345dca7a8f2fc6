import { expect, test, vi } from 'vitest';
import type { OpenRun } from '../../../../src/engine/run/record/open-run.ts';
import { enterState, type RunRecord } from '../../../../src/engine/run/record/record.ts';
import { acceptFailures } from '../../../../src/engine/run/work/record-part.ts';
import { plannedRecord } from '../planned-record.ts';

const canary = { at: '2026-01-01T00:00:00.000Z', rows: 2, failed: 1, wentOn: false };
const halted = { ...enterState(plannedRecord, 'halted', { because: 'guard' }), canary };

async function accepted(record: RunRecord) {
  const append = vi.fn(async () => {});
  const after = await acceptFailures({ record, journal: { append } } as unknown as OpenRun);
  return { entries: append.mock.calls.flat(2), after };
}

test.each<[string, RunRecord]>([
  ['resumes', halted],
  ['hands to a daemon', enterState(halted, 'submitted')],
])(
  'the failures of a halted run that a user %s are accepted, and its canary, too',
  async (_title, record) => {
    const { entries, after } = await accepted(record);
    expect(entries).toEqual([{ type: 'accepted' }]);
    expect(after.canary).toEqual({ ...canary, wentOn: true });
  },
);

test.each<[string, RunRecord]>([
  ['stopped for another reason', enterState(enterState(halted, 'interrupted'), 'submitted')],
  ['has gone on since', enterState(enterState(halted, 'running'), 'submitted')],
  ['gave up', enterState(plannedRecord, 'halted', { because: 'stuck' })],
])('the failures of a run that %s still count', async (_title, record) => {
  const { entries, after } = await accepted(record);
  expect(entries).toEqual([]);
  expect(after).toBe(record);
});
