import { expect, test, vi } from 'vitest';
import type { Coordinator, StopReason } from '../../../../src/engine/run/feed/coordinator.ts';
import { Guards } from '../../../../src/engine/run/record/guards/guards.ts';
import { drain } from '../../../../src/engine/run/work/drain.ts';
import type { RunInProgress } from '../../../../src/engine/run/work/run-in-progress.ts';
import { plannedRecord } from '../planned-record.ts';

const { plan } = plannedRecord;

/** Drains a run that stops for a reason when some of its callable rows have results. */
function drained(reason: StopReason | undefined, finished: number): Promise<StopReason> {
  if (reason === undefined) throw new Error('Nothing stops the run.');
  const inProgress = {
    run: {
      record: { ...plannedRecord, plan: { ...plan, callable: 3 } },
      journal: { finishedCount: finished },
      datastore: { exclusive: true },
    },
    options: { interrupt: new AbortController().signal },
  } as unknown as RunInProgress;
  const coordinator = { drain: vi.fn(async () => true) } as unknown as Coordinator;
  return drain(inProgress, coordinator, undefined, reason);
}

test.each([
  ['an outage', new Guards({}).takeNews({ outage: { reason: 'no answer', place: 1 } })],
  ['a budget that is spent', new Guards({}).takeNews({ spentBudget: 'it is 06:00' })],
])('a run is not stopped by %s if the calls in flight were the last', async (_title, halt) => {
  expect(await drained(halt, 2)).toBe(halt);
  expect(await drained(halt, 3)).toEqual({ state: 'completed' });
});
