import { isActive, type RunEntry } from '../../cluster/entries.ts';
import { type OutcomeCounts, totalOf } from '../../domain.ts';
import { actualState, type RunRecord } from '../../run/record.ts';
import { withJournalReader } from '../../run/run-journal.ts';
import type { RunStore } from '../../run/store.ts';
import type { Flags } from '../config/load.ts';
import { openContext } from '../context.ts';
import type { DatastoreChoice } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { count, table } from '../render/words.ts';
import { newestEntries } from './find-run.ts';
import { viewOfEntry } from './run-view.ts';

/** The journal of a run that was left in order need not be read for its counts. */
async function countsOf(store: RunStore, record: RunRecord): Promise<OutcomeCounts> {
  const { counts } = record;
  if (counts !== undefined && !isActive(record.state)) return counts;
  return withJournalReader(store, record, (journal) => journal.outcomeCounts);
}

type ListedRun = ReturnType<typeof listed>;

/**
 * @param counts nothing when the journal is damaged
 * @param host the machine that has its state folder, if that is another one
 */
function listed(
  { id, manifest, rows }: Pick<RunEntry, 'id' | 'manifest' | 'rows'>,
  state: string,
  counts: OutcomeCounts | undefined,
  host: string | null,
) {
  return {
    run: id,
    state,
    manifest,
    rows,
    done: counts ? totalOf(counts) : null,
    succeeded: counts?.succeeded ?? null,
    failed: counts?.failed ?? null,
    host,
  };
}

/** Runs that only the shared datastore knows, because their state folders are elsewhere. */
async function runsElsewhere(
  datastore: DatastoreChoice,
  known: ReadonlySet<string>,
): Promise<readonly ListedRun[]> {
  if (datastore.queue === undefined) return [];
  return (await newestEntries(datastore))
    .filter(({ id }) => !known.has(id))
    .map((entry) => listed(entry, viewOfEntry(entry, undefined).state, entry.counts, entry.coordinator.host));
}

/** `cqbatch list`: the runs of the state folder, newest first, then those of other machines. */
export async function list(flags: Flags): Promise<ExitCode> {
  const { terminal, store, datastore } = await openContext(flags);
  const warn = ({ message }: Error): undefined => {
    terminal.warn(`warning: ${message}`);
  };
  const runs: ListedRun[] = [];
  for (const record of (await store.list(warn)).toReversed()) {
    const counts = await countsOf(store, record).catch(warn);
    const { id, manifest, plan } = record;
    runs.push(listed({ id, manifest: manifest.name, rows: plan.rows }, actualState(record), counts, null));
  }
  try {
    runs.push(...(await runsElsewhere(datastore, new Set(runs.map(({ run }) => run)))));
  } catch (error) {
    terminal.warn(`warning: only the runs of ${store.stateDir}: ${(error as Error).message}`);
  }
  const header = ['run', 'state', 'rows', 'done', 'succeeded', 'failed', 'manifest'];
  const rows = runs.map(({ run, state, rows, done, succeeded, failed, manifest, host }) => [
    run,
    state,
    count(rows),
    ...[done, succeeded, failed].map((value) => (value === null ? '?' : count(value))),
    host === null ? manifest : `${manifest} (on ${host})`,
  ]);
  const text =
    runs.length === 0
      ? `There is no run in ${store.stateDir} yet.`
      : table([header, ...rows], [2, 3, 4, 5]).join('\n');
  terminal.result({ runs }, text);
  return exitCodes.success;
}
