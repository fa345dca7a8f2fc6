import { repeat } from '../../../base/async/repeat.ts';
import type { OpenRun } from '../record/open-run.ts';
import {
  goesOnAfterHalt,
  type RunRecord,
  withoutQueueAndBudget,
  withPriority,
  withRate,
} from '../record/record.ts';
import { withCrashedTime } from '../record/record-keeper.ts';
import type { ExecuteRunOptions, OpenPart, RunEvent, RunInProgress } from './run-in-progress.ts';

/**
 * Only a user who has seen the failures resumes a run that a guard halted: the guards count from here on, and the canary is not checked
 * again.
 */
export async function acceptFailures({ record, journal }: OpenRun): Promise<RunRecord> {
  if (!goesOnAfterHalt(record)) return record;
  await journal.append([{ type: 'accepted' }]);
  const { canary } = record;
  return { ...record, ...(canary && { canary: { ...canary, wentOn: true } }) };
}

/**
 * The record of a run that begins or goes on: a killed process was at work until its last result. A run that any coordinator may take over
 * keeps its budget, also if this process is killed at once.
 */
export function recordAtWork({ record, journal }: OpenRun, { handOver }: ExecuteRunOptions): RunRecord {
  const { budget } = record;
  const begun = withoutQueueAndBudget(record);
  const kept = handOver && budget !== undefined ? { ...begun, budget } : begun;
  return withCrashedTime(kept, journal.lastFinishedAt);
}

/** After this time, the record says why the datastore delays the run. */
const delayMs = 2_000;

/** Writes into the record what happens to the run. If the record can't be saved, the run goes on. */
export const openRecord: OpenPart = (run, defer) => {
  const { keeper, options, troubleText, tellEvent } = run;
  const noteDelay = (): void => {
    const reason = troubleText();
    // A datastore that refuses commands can't tell other processes.
    if (reason !== keeper.record.waiting) tellEvent({ type: 'delayed', reason });
  };
  defer(repeat(noteDelay, { everyMs: delayMs }).stop);
  return {
    seeEvent(event) {
      if (!changeRecord(run, event)) return;
      keeper.save().catch(({ message }: Error) => {
        options.log.error({ run: keeper.record.id, err: message }, 'not saved');
      });
    },
  };
};

/** @returns whether the event changes the record */
function changeRecord({ keeper, options: { log } }: RunInProgress, event: RunEvent): boolean {
  const { id: run } = keeper.record;
  switch (event.type) {
    case 'paused':
      keeper.enter(event.paused ? 'paused' : 'running', event.attribution);
      return true;
    case 'delayed':
      keeper.change({ waiting: event.reason });
      return true;
    case 'rate set':
      keeper.change(withRate(keeper.record, event.change));
      log.info({ run, rate: event.change.rate?.text ?? 'none' }, 'rate set');
      return true;
    case 'priority set':
      keeper.change(withPriority(keeper.record, event.change));
      log.info({ run, priority: event.change.priority }, 'priority set');
      return true;
    default:
      return false;
  }
}
