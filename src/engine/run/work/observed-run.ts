import { decidedResult } from '../../rows/decided-result.ts';
import { activeTime } from '../record/record-keeper.ts';
import { outcomesOf, unfinishedRows } from '../record/run-journal.ts';
import { resultOf } from '../record/run-outcome.ts';
import type { OpenPart } from './run-in-progress.ts';

/** Tells the observer what the journal keeps, and how the run ends. */
export const openObserver: OpenPart = async ({ run, rows, keeper, options: { observer } }, defer) => {
  if (observer === undefined) return {};
  const { record, journal } = run;
  const observed = observer.started(() => unfinishedRows(record, journal));
  let hasEnded = false;
  defer(() => {
    if (!hasEnded) observed.ended({ result: 'failed' });
  });
  // Rows that the plan has decided count where the run starts.
  if (!record.states.some(({ state }) => state === 'running') && record.plan.callable < record.plan.rows)
    for await (const part of rows.rows()) observer.finished(part.flatMap((row) => decidedResult(row) ?? []));
  journal.onFinished = (results) => observer.finished(results);
  return {
    see(event) {
      if (event.type !== 'ended') return;
      hasEnded = true;
      const result = resultOf(event.end, outcomesOf(record, journal));
      if (event.isHandedOver) observed.ended();
      else observed.ended({ result, durationMs: activeTime(keeper.record, journal.lastFinishedAt) });
    },
  };
};
