import { noOutcomes } from '../../src/domain/terms.ts';
import type { RunData } from '../../src/pages/server/page-data.ts';
import { runFacts } from './run-facts.ts';

type Local = NonNullable<RunData['local']>;

/** A run of this state folder that a page shows, of which a test changes what matters. */
export function runData(changes: Partial<RunData> = {}, local: Partial<Local> = {}): RunData {
  const { workers: _, ...facts } = runFacts();
  return {
    ...facts,
    rows: 100,
    done: 0,
    counts: noOutcomes(),
    throughput: undefined,
    local: { states: [], steps: [], isShared: false, activeMs: 0, ...local },
    ...changes,
  };
}

/** A run that has ended at that time. */
export function endedRun(
  id: string,
  state: Local['states'][number]['state'],
  at: string,
  changes: Partial<RunData> = {},
  local: Partial<Local> = {},
): RunData {
  const states = [...(local.states ?? []), { state, at }];
  return runData({ id, state, ended: true, startedAt: at, ...changes }, { ...local, states });
}
