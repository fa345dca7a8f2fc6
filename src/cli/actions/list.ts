import { type Outcome, outcomes } from '../../domain.ts';
import { actualState, type RunRecord } from '../../run/record.ts';
import { openRunStore, type RunStore } from '../../run/store.ts';
import { type CommonFlags, stateDirOf } from '../config/load.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { count, table } from '../render/words.ts';
import { openTerminal } from '../terminal.ts';
import { withJournalReader } from './look.ts';

/** The journal of a run that was left in order need not be read for its counts. */
async function countsOf(store: RunStore, record: RunRecord): Promise<Readonly<Record<Outcome, number>>> {
  const { counts } = record;
  if (counts !== undefined && record.state !== 'running') return counts;
  return withJournalReader(store, record, (journal) => journal.outcomeCounts);
}

/** `cqbatch list`: the runs of the state folder, newest first. */
export async function list(flags: CommonFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = openRunStore(stateDirOf(flags));
  const runs = [];
  for (const record of (await store.list()).toReversed()) {
    const counts = await countsOf(store, record);
    runs.push({
      run: record.id,
      state: actualState(record),
      manifest: record.manifest.name,
      rows: record.plan.rows,
      done: outcomes.reduce((sum, outcome) => sum + counts[outcome], 0),
      succeeded: counts.succeeded,
      failed: counts.failed,
    });
  }
  const header = ['run', 'state', 'rows', 'done', 'succeeded', 'failed', 'manifest'];
  const rows = runs.map(({ run, state, rows, done, succeeded, failed, manifest }) => [
    run,
    state,
    count(rows),
    count(done),
    count(succeeded),
    count(failed),
    manifest,
  ]);
  const text =
    runs.length === 0
      ? `There is no run in ${store.stateDir} yet.`
      : table([header, ...rows], [2, 3, 4, 5]).join('\n');
  terminal.result({ runs }, text);
  return exitCodes.success;
}
