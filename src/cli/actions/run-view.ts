import { steadyTimeOf } from '../../clock.ts';
import { isActive, type PublishedPace, type RunEntry } from '../../cluster/entries.ts';
import type { OutcomeCounts } from '../../domain.ts';
import { readRateHistory } from '../../report/rate-history.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { timeAtWork } from '../../run/record-keeper.ts';
import { withJournalReader } from '../../run/run-journal.ts';
import type { RunStore } from '../../run/store.ts';
import type { RunView } from '../render/status.ts';
import { type LiveRun, presentEntry } from './live-view.ts';

/** A run of this state folder. */
export async function viewOfRecord(
  store: RunStore,
  record: RunRecord,
  live: LiveRun | undefined,
): Promise<RunView> {
  const { counts, unclear, codes, atWorkMs } = await withJournalReader(store, record, (journal) => ({
    counts: journal.outcomeCounts,
    unclear: journal.unclearCount,
    codes: journal.codeCounts,
    atWorkMs: timeAtWork(record, journal.lastFinishedAt),
  }));
  const state = actualState(record);
  const entry = presentEntry(live?.entry);
  const active = isActive(state);
  return {
    id: record.id,
    state,
    ended: !active && state !== 'submitted',
    manifest: record.manifest.name,
    baseUrl: record.options.baseUrl,
    rows: record.plan.rows,
    counts,
    ...(active && entry !== undefined
      ? { throughput: { rowsPerSecond: entry.rowsPerSecond, of: 'now' } }
      : atWorkMs > 0 && { throughput: { rowsPerSecond: averageOf(counts, atWorkMs), of: 'average' } }),
    ...(active && coordinatorOf(record, entry)),
    workers: active ? (live?.workers ?? []) : [],
    ...(active && (await paceOf(live?.pace, store.folder(record.id)))),
    local: {
      unclear,
      codes,
      states: record.states,
      retryOf: record.retryOf,
      resumable: isResumable(state) && state !== 'submitted',
    },
  };
}

/** A run of another machine, of which only the shared datastore tells. */
export function viewOfEntry(known: RunEntry, live: LiveRun | undefined): RunView {
  const entry = live?.entry ?? known;
  const present = presentEntry(entry) !== undefined;
  const active = isActive(entry.state);
  return {
    id: entry.id,
    state: active && !present ? 'interrupted' : entry.state,
    ended: entry.state !== 'submitted' && !(active && present),
    manifest: entry.manifest,
    baseUrl: entry.baseUrl,
    rows: entry.rows,
    counts: entry.counts,
    ...(active && present && { throughput: { rowsPerSecond: entry.rowsPerSecond, of: 'now' } }),
    coordinator: { ...entry.coordinator, seenAt: entry.seenAt },
    workers: active ? (live?.workers ?? []) : [],
    ...(active && present && live?.pace !== undefined && { pace: live.pace }),
  };
}

/** How the API is called: as the shared datastore tells, else as the run's folder did a few seconds ago. */
async function paceOf(live: PublishedPace | undefined, folder: string): Promise<Pick<RunView, 'pace'>> {
  if (live !== undefined) return { pace: live };
  const history = await readRateHistory(folder);
  if (history === undefined) return {};
  const { allowed_per_s, limit_per_s, concurrency, reason, wait_until } = history;
  return {
    pace: {
      ...(allowed_per_s !== null && { rate: allowed_per_s }),
      ...(limit_per_s !== null && { limit: limit_per_s }),
      concurrency,
      reason,
      ...(wait_until !== null && { restUntil: steadyTimeOf(Date.parse(wait_until)) }),
    },
  };
}

function coordinatorOf({ process }: RunRecord, entry: RunEntry | undefined): Pick<RunView, 'coordinator'> {
  if (entry !== undefined) return { coordinator: { ...entry.coordinator, seenAt: entry.seenAt } };
  return process === undefined ? {} : { coordinator: { host: process.host, pid: process.pid } };
}

/** Rows called per second of the time that the run was at work. */
function averageOf({ succeeded, failed }: OutcomeCounts, atWorkMs: number): number {
  return ((succeeded + failed) * 1_000) / atWorkMs;
}
