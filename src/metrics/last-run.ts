import { readFile } from 'node:fs/promises';
import { timeAtWork } from '../run/record/record-keeper.ts';
import type { RunStore } from '../run/record/store.ts';
import type { LastRun } from './metrics.ts';

/** The metrics that outlive a process: name and help of each. */
export const lastRunGauges = {
  succeededAt: ['cqbatch_last_success_timestamp_seconds', 'When a run last succeeded with all rows.'],
  endedAt: ['cqbatch_last_run_timestamp_seconds', 'When the last run ended, however.'],
  durationSeconds: ['cqbatch_last_run_duration_seconds', 'How long the last run was at work.'],
  exitCode: ['cqbatch_last_exit_code', 'Exit code of the last command that wrote this file.'],
} as const satisfies Record<keyof LastRun, readonly [name: string, help: string]>;

/** What the file of an earlier process says; nothing where there is none. */
export async function readLastRun(path: string): Promise<LastRun> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const known = Object.entries(lastRunGauges).map(([key, [name]]) => {
    const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text);
    return [key, Number(line?.[1])] as const;
  });
  return Object.fromEntries(known.filter(([, value]) => Number.isFinite(value)));
}

/** What the runs of a state folder say: a daemon that is started anew has not forgotten when one succeeded. */
export async function lastRunIn(store: Pick<RunStore, 'list'>): Promise<LastRun> {
  let last: LastRun = {};
  for (const record of await store.list(() => {})) {
    const { state, states, counts } = record;
    if (counts === undefined || !['completed', 'halted', 'cancelled', 'interrupted'].includes(state))
      continue;
    const at = Date.parse(states.at(-1)?.at ?? '') / 1_000;
    const hasSucceeded = state === 'completed' && counts.failed + counts.invalid === 0;
    if (hasSucceeded && at > (last.succeededAt ?? 0)) last = { ...last, succeededAt: at };
    if (at > (last.endedAt ?? 0))
      last = { ...last, endedAt: at, durationSeconds: timeAtWork(record, undefined) / 1_000 };
  }
  return last;
}
