import type { RunData } from '../../dashboard/page-data.ts';

/** What a run's state is called, and the class that gives it its colour: not every run that completed has succeeded. */
export function stateOf({ state, waiting, counts }: RunData): {
  readonly text: string;
  readonly kind: string;
} {
  const hasFailures = counts.failed + counts.invalid > 0;
  if (state === 'completed' && hasFailures) return { text: 'completed with failures', kind: 'failed' };
  if (state === 'running' && waiting !== undefined) return { text: 'running, but waiting', kind: 'waiting' };
  return { text: state, kind: state };
}
