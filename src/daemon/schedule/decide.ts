import type { HistoryEntry, Occasion, Schedule, ScheduleState, Trigger } from './schedule.ts';
import type { Times } from './times.ts';

export interface Situation {
  readonly now: Date;
  readonly times: Times;
  readonly trigger?: Trigger | undefined;
  /** The id of the schedule's last run, only if it is still in progress. */
  readonly runInProgress?: string | undefined;
}

/** The daemon may have been planning a large manifest of another schedule. */
const mostLateMs = 60_000;
/** The clocks of machines differ by less: a recorded time further in the future comes from a wrong clock. */
const mostClockErrorMs = 60 * 60_000;
const mostEntries = 300;

/** In the returned state, `beginning` is the occasion to start, if any; all others since the last look are in the history, or wait. */
export function decide(schedule: Schedule, state: ScheduleState, situation: Situation): ScheduleState {
  // The run of an earlier decision may have started or not.
  if (state.beginning !== undefined) return state;
  const { runInProgress, trigger } = situation;
  const { waiting, ...rest } = state;
  const { state: taken, due } = takeTimes(schedule, rest, situation);
  const occasions = [waiting, due, trigger && { due: trigger.at, trigger }].filter(
    (one) => one !== undefined,
  );

  let after: ScheduleState = taken;
  for (const occasion of occasions) {
    if (schedule.paused && occasion.trigger === undefined) {
      after = withEntry(after, { ...occasion, result: 'skipped', because: 'paused' });
    } else if (runInProgress === undefined && after.beginning === undefined) {
      after = { ...after, beginning: occasion };
    } else if (occasion === waiting || (schedule.overlap === 'queue' && after.waiting === undefined)) {
      after = { ...after, waiting: occasion };
    } else {
      after = withEntry(after, { ...occasion, result: 'skipped', because: runInProgress ?? 'another run' });
    }
  }
  return after;
}

/** The latest of the times since the last look is due; all earlier ones were missed. */
function takeTimes(
  { paused, since, catchUpMs }: Schedule,
  state: ScheduleState,
  { now, times }: Situation,
): { readonly state: ScheduleState; readonly due?: Occasion } {
  const isAhead = (time: number): boolean => time > now.getTime() + mostClockErrorMs;
  const added = Date.parse(since);
  const dealtWith = Date.parse(state.doneUntil ?? since);
  // The clock was ahead: only times from now on count.
  if (isAhead(dealtWith)) return { state: { ...state, doneUntil: now.toISOString() } };
  const from = new Date(isAhead(added) ? dealtWith : Math.max(added, dealtWith));
  const first = paused ? undefined : times.nextAfter(from);
  if (first === undefined || first > now) return { state };
  const latest = times.latestUntil(now) ?? first;
  const due = latest.toISOString();
  const lateMs = now.getTime() - latest.getTime();
  const isLost = lateMs > Math.max(mostLateMs, catchUpMs ?? 0);
  const lastMissed = isLost ? latest : times.latestUntil(new Date(latest.getTime() - 1_000));
  const done = { ...state, doneUntil: due };
  if (lastMissed === undefined || lastMissed < first) return { state: done, due: { due } };
  const missed = withEntry(done, {
    due: first.toISOString(),
    result: 'missed',
    at: now.toISOString(),
    ...(lastMissed > first && { until: lastMissed.toISOString() }),
  });
  return isLost ? { state: missed } : { state: missed, due: { due } };
}

/** Consecutive occasions without a run for the same reason share an entry. */
export function withEntry(state: ScheduleState, entry: HistoryEntry): ScheduleState {
  const last = state.history.at(-1);
  const history =
    last !== undefined && isRepeated(last, entry)
      ? [...state.history.slice(0, -1), { ...last, until: entry.due }]
      : [...state.history, entry];
  return { ...state, history: history.slice(-mostEntries) };
}

function isRepeated(last: HistoryEntry, entry: HistoryEntry): boolean {
  if (last.trigger !== undefined || entry.trigger !== undefined) return false;
  if (last.result === 'skipped') return entry.result === 'skipped' && entry.because === last.because;
  return last.result === 'idle' && entry.result === 'idle';
}

export function withConclusion(state: ScheduleState, entry: HistoryEntry): ScheduleState {
  const { beginning: _, ...rest } = state;
  return withEntry(rest, entry);
}
