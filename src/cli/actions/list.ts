import { actualEntryState, type RunEntry } from '../../cluster/entries.ts';
import { type OutcomeCounts, totalOf } from '../../domain.ts';
import { actualState } from '../../run/record.ts';
import { outcomeCountsOf } from '../../run/run-journal.ts';
import type { Flags } from '../config/load.ts';
import { openContext } from '../context.ts';
import type { DatastoreChoice } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { count, table } from '../render/words.ts';
import { newestEntries } from './find-run.ts';

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
    .map((entry) => listed(entry, actualEntryState(entry), entry.counts, entry.coordinator.host));
}

/** `cqbatch list`: the runs of the state folder, newest first, then those of other machines. */
export async function list(flags: Flags): Promise<ExitCode> {
  const { terminal, store, datastore } = await openContext(flags);
  const warn = ({ message }: Error): undefined => {
    terminal.warn(`warning: ${message}`);
  };
  const runs: ListedRun[] = [];
  for (const record of (await store.list(warn)).toReversed()) {
    const counts = await outcomeCountsOf(store, record).catch(warn);
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
