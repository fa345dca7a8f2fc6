import type { Defer } from '../../../base/async/scope.ts';
import { decidedResult } from '../../rows/decided-result.ts';
import { resultOf } from '../record/ending.ts';
import { activeTime } from '../record/record-keeper.ts';
import { outcomesOf, unfinishedRows } from '../record/run-journal.ts';
import type { RunInProgress, RunPart } from './run-in-progress.ts';

/** Tells the observer what the journal keeps, and how the run ends. */
export async function openObserver(
  { run, rows, options: { observer } }: Pick<RunInProgress, 'run' | 'rows' | 'options'>,
  defer: Defer,
): Promise<RunPart> {
  if (observer === undefined) return {};
  const { record, journal } = run;
  const observed = observer.runStarted(() => unfinishedRows(record, journal));
  let hasEnded = false;
  defer(() => {
    if (!hasEnded) observed.runEnded({ result: 'failed' });
  });
  // Rows that the plan has decided count where the run starts.
  if (!record.states.some(({ state }) => state === 'running') && record.plan.callable < record.plan.rows)
    for await (const part of rows.rows())
      observer.rowsFinished(part.flatMap((row) => decidedResult(row) ?? []));
  journal.onFinished = (results) => observer.rowsFinished(results);
  return {
    seeEvent(event) {
      if (event.type !== 'ended') return;
      hasEnded = true;
      const result = resultOf(event.end, outcomesOf(record, journal));
      if (event.isHandedOver) observed.runEnded();
      else observed.runEnded({ result, durationMs: activeTime(event.record, journal.lastFinishedAt) });
    },
  };
}
