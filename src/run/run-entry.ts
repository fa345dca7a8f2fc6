import { hostname } from 'node:os';
import type { Cluster } from '../cluster/cluster.ts';
import type { RunEntry } from '../cluster/entries.ts';
import { usageError } from '../errors.ts';
import type { Progress } from './progress.ts';
import type { RunRecord } from './record.ts';

/** What a run shows of itself in a shared datastore. */
export function entryOf(record: RunRecord, counts: RunEntry['counts'], progress: Progress): RunEntry {
  const { rate, baseUrl } = record.options;
  return {
    id: record.id,
    key: record.key ?? record.id,
    baseUrl,
    manifest: record.manifest.name,
    state: record.state,
    rows: record.plan.rows,
    counts: { ...counts },
    rowsPerSecond: progress.snapshot().rowsPerSecond,
    ...(rate !== undefined && { rate }),
    coordinator: { host: hostname(), pid: process.pid },
    startedAt: record.states.find(({ state }) => state === 'running')?.at ?? '',
    seenAt: new Date().toISOString(),
  };
}

/**
 * Shows a run for the first time.
 *
 * @param takeUp whether somebody starts it by hand: it is to go on then, whatever was wanted before.
 * @throws a usage error `RUN_ID_TAKEN` when the datastore knows another run of this id.
 */
export async function announce(
  cluster: Cluster,
  entry: RunEntry,
  { takeUp }: { readonly takeUp: boolean },
): Promise<void> {
  await cluster.sweep();
  if (!(await cluster.putRun(entry))) {
    throw usageError(
      'RUN_ID_TAKEN',
      `Another run called ${entry.id} uses this datastore. Give this one another --run-id, or the datastore's ` +
        'installations different prefixes (CQBATCH_QUEUE_PREFIX).',
    );
  }
  if (takeUp) await cluster.command(entry.id, 'unpause');
}
