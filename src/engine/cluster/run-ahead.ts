import { count, counted, duration } from '../../base/text/format.ts';
import { priorities, usualPriority } from '../../domain/terms.ts';
import type { Cluster } from './cluster.ts';
import type { PublishedPace, RunEntry } from './entries.ts';

/**
 * Which runs of a higher priority keep a run from being called: `for restore-b (priority high), about 40 s`. Undefined if the run is called,
 * or if no run keeps it from being called.
 *
 * @param runs in progress at the same API
 */
export function runAhead(own: RunEntry, runs: readonly RunEntry[]): string | undefined {
  if (own.rowsPerSecond > 0) return undefined;
  const rankOf = ({ priority = usualPriority }: RunEntry): number => priorities.indexOf(priority);
  const leftOf = ({ rows, done = 0 }: RunEntry): number => rows - done;
  const ahead = runs
    .filter((run) => run.state === 'running' && rankOf(run) < rankOf(own) && leftOf(run) > 0)
    .toSorted((one, other) => rankOf(one) - rankOf(other) || leftOf(other) - leftOf(one));
  const [first] = ahead;
  if (first === undefined) return undefined;
  const sumOf = (numberOf: (run: RunEntry) => number) => ahead.reduce((sum, run) => sum + numberOf(run), 0);
  const more = ahead.length === 1 ? '' : ` and ${counted(ahead.length - 1, 'other run')}`;
  const perSecond = sumOf((run) => run.rowsPerSecond);
  const rowsLeft = sumOf(leftOf);
  const time = perSecond > 0 ? `about ${duration(rowsLeft / perSecond)}` : `${count(rowsLeft)} rows left`;
  return `for ${first.id} (priority ${first.priority ?? usualPriority})${more}, ${time}`;
}

/** Like `runAhead`, of the runs that the leading worker knows at the API: reads their entries. */
export async function findRunAhead(
  cluster: Pick<Cluster, 'run'>,
  own: RunEntry,
  pace: Pick<PublishedPace, 'runs'> | undefined,
): Promise<string | undefined> {
  if (own.rowsPerSecond > 0) return undefined;
  const others = (pace?.runs ?? []).filter((id) => id !== own.id);
  const runs = await Promise.all(others.map((id) => cluster.run(id)));
  return runAhead(
    own,
    runs.filter((run) => run !== undefined),
  );
}
