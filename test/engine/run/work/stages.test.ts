import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { openJournal } from '../../../../src/engine/journal/open.ts';
import { Guards } from '../../../../src/engine/run/record/guards/guards.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { RecordKeeper } from '../../../../src/engine/run/record/record-keeper.ts';
import type { ExecuteRunOptions, RunInProgress } from '../../../../src/engine/run/work/run-in-progress.ts';
import { openStages } from '../../../../src/engine/run/work/stages.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { callable } from '../../rows/decided-rows.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';
import { leastOptions, plannedRecord } from '../planned-record.ts';

const canary = { rows: 2, pause: true, maxFailures: 0 };
const { signal } = new AbortController();
const unpaused = { type: 'paused', paused: false, attribution: {} } as const;

function resultOf(row: number, outcome: RowResult['outcome']): RowResult {
  const code = outcome === 'succeeded' ? 'OK' : 'NOT_FOUND';
  return { row, operation: 'x', outcome, code, message: '', attempts: 1, unclear: false };
}

/** Opens the stages of a run whose first two rows have ended. */
async function atTheEndOfItsCanary(
  changes: Partial<RunRecord> = {},
  { rows = 5, failed = 0, ...options }: Partial<ExecuteRunOptions> & { rows?: number; failed?: number } = {},
) {
  const record: RunRecord = {
    ...plannedRecord,
    plan: { ...plannedRecord.plan, rows, callable: rows },
    options: { ...leastOptions, canary },
    ...changes,
  };
  const journal = await openJournal(join(await temporaryFolder(), 'journal.jsonl'), { runId: record.id });
  onTestFinished(() => journal.close());
  for (const row of [1, 2])
    await journal.append([{ type: 'row', result: resultOf(row, row <= failed ? 'failed' : 'succeeded') }]);
  const keeper = new RecordKeeper({ save: async () => {} }, record);
  onTestFinished(() => keeper.close());
  const decided = Array.from({ length: rows }, (_, index) => ({ ...callable, row: index + 1 }));
  const inProgress = {
    run: { record, journal, datastore: { exclusive: true } },
    rows: rowsInMemory(decided),
    keeper,
    guards: new Guards(record.options, journal.failures),
    options,
  } as unknown as RunInProgress;
  return { stages: await openStages(inProgress, () => {}), keeper };
}

describe('a canary that pauses', () => {
  test('pauses when its rows have ended, and lets the other rows follow when it is unpaused', async () => {
    const { stages, keeper } = await atTheEndOfItsCanary();
    expect(stages.selection?.()).toMatchObject({ last: 2 });
    expect(await stages.nextStage?.(signal)).toEqual({
      state: 'paused',
      because: 'canary',
      reason: 'the first 2 rows are done, 0 failed: look at them, then continue',
    });
    expect(keeper.record.canary).toMatchObject({ rows: 2, failed: 0, wentOn: false });
    stages.seeEvent?.(unpaused);
    expect(keeper.record.canary).toMatchObject({ rows: 2, failed: 0, wentOn: true });
    expect(stages.selection?.()).toBeUndefined();
  });

  test('leaves failed rows to the person, whatever canary_max_failures is', async () => {
    const { stages } = await atTheEndOfItsCanary({}, { failed: 1 });
    expect(await stages.nextStage?.(signal)).toMatchObject({
      state: 'paused',
      reason: 'the first 2 rows are done, 1 failed: look at them, then continue',
    });
  });

  test('does not pause a run that halts', async () => {
    const options = { ...leastOptions, canary, maxFailures: 0 };
    const { stages, keeper } = await atTheEndOfItsCanary({ options }, { failed: 1 });
    expect(await stages.nextStage?.(signal)).toMatchObject({ state: 'halt', guard: 'failures' });
    expect(keeper.record.canary).toMatchObject({ wentOn: false });
  });

  test('does not pause a run that has no other rows', async () => {
    const { stages } = await atTheEndOfItsCanary({}, { rows: 2 });
    expect(await stages.nextStage?.(signal)).toEqual({ state: 'completed' });
  });

  test('pauses again after a kill in its pause, as of the time of the first pause', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const { stages, keeper } = await atTheEndOfItsCanary({
      canary: { at, rows: 2, failed: 0, wentOn: false },
    });
    expect(stages.selection?.()).toMatchObject({ last: 2 });
    expect(await stages.nextStage?.(signal)).toMatchObject({ state: 'paused', because: 'canary' });
    expect(keeper.record.canary).toMatchObject({ at, wentOn: false });
  });

  test('does not pause again when it was unpaused', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const { stages } = await atTheEndOfItsCanary({ canary: { at, rows: 2, failed: 0, wentOn: true } });
    expect(stages.selection?.()).toBeUndefined();
  });

  test('is not confirmed by the end of an earlier pause', async () => {
    const { stages, keeper } = await atTheEndOfItsCanary();
    stages.seeEvent?.(unpaused);
    expect(keeper.record.canary).toBeUndefined();
    expect(await stages.nextStage?.(signal)).toMatchObject({ state: 'paused' });
  });

  test('does not pause where a person has answered', async () => {
    const { stages, keeper } = await atTheEndOfItsCanary({}, { confirmAfterCanary: async () => true });
    expect(await stages.nextStage?.(signal)).toBeUndefined();
    expect(keeper.record.canary).toMatchObject({ wentOn: true });
  });
});
