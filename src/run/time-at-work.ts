import { actualState, type RunRecord } from './record.ts';

type StateEntry = RunRecord['states'][number];

/** How often a process that works on a run writes down for how long it has. */
export const notedEveryMs = 5_000;

/**
 * How long a run was at work, milliseconds, all times together: each by the steady clock of the process that was at it.
 *
 * @param lastFinishedAt end of the last attempt of which the journal tells: a process that died was at work until then.
 */
export function timeAtWork(record: RunRecord, lastFinishedAt: string | undefined): number {
  const last = actualState(record) === 'running' ? new Date().toISOString() : lastFinishedAt;
  return record.states.reduce(
    (sum, entry, index) =>
      entry.state === 'running' ? sum + timeOf(entry, record.states[index + 1]?.at ?? last) : sum,
    0,
  );
}

/** The record of a run that nobody works on, with how long the process was at work that did last and may have died. */
export function withTimeOfDead(record: RunRecord, lastFinishedAt: string | undefined): RunRecord {
  const last = record.states.at(-1);
  if (last?.state !== 'running') return record;
  const { notedMs: _, ...entry } = { ...last, atWorkMs: timeOf(last, lastFinishedAt) };
  return { ...record, states: [...record.states.slice(0, -1), entry] };
}

/**
 * Times of day tell it where the process could not; since clocks are set, they are believed within what it has noted
 * and would have noted next.
 */
function timeOf({ at, atWorkMs, notedMs }: StateEntry, until: string | undefined): number {
  if (atWorkMs !== undefined) return atWorkMs;
  const byTimeOfDay = Math.max(0, Date.parse(until ?? at) - Date.parse(at));
  // Earlier versions noted nothing.
  if (notedMs === undefined) return byTimeOfDay;
  return Math.min(Math.max(byTimeOfDay, notedMs), notedMs + notedEveryMs);
}
