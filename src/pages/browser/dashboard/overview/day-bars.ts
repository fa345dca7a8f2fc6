import { counted, inWords } from '../../../../base/text/format.ts';
import { endedAt, type RunData, stateOf } from '../../../server/page-data.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** Runs at the same time have bars below each other. Of more, the last bar of a column covers the others. */
const mostLanes = 6;
/** The least width of a bar, as a share of the day, so that a short run can be seen. */
const leastShare = 0.004;

export interface DayBar {
  readonly run: string;
  /** The begin and the end of the bar, as shares of the last 24 hours. */
  readonly from: number;
  readonly to: number;
  readonly lane: number;
  /** The CSS class for the color. */
  readonly kind: string;
  readonly state: string;
}

/** The runs of the last 24 hours as bars, from the oldest to the newest. */
export function dayBars(runs: readonly RunData[], now: number): readonly DayBar[] {
  const start = now - dayMs;
  const times = runs.flatMap((run) => {
    const from = Date.parse(run.startedAt ?? '');
    const to = run.ended ? Date.parse(endedAt(run) ?? '') : now;
    return Number.isNaN(from) || Number.isNaN(to) || to < start || from > now ? [] : [{ run, from, to }];
  });
  const laneEnds: number[] = [];
  return times
    .toSorted((one, other) => one.from - other.from)
    .map(({ run, ...time }): DayBar => {
      const from = Math.min(1 - leastShare, Math.max(0, (time.from - start) / dayMs));
      const to = Math.min(1, Math.max(from + leastShare, (time.to - start) / dayMs));
      const free = laneEnds.findIndex((end) => end <= from);
      const lane = free >= 0 ? free : Math.min(laneEnds.length, mostLanes - 1);
      laneEnds[lane] = Math.max(to, laneEnds[lane] ?? 0);
      const { text, kind } = stateOf(run);
      return { run: run.id, from, to, lane, kind, state: text };
    });
}

/** The bars in words: `5 runs: 3 completed, 1 halted, 1 running`. */
export function dayText(bars: readonly DayBar[]): string {
  const states = bars.map(({ kind, state }) =>
    /^\d/.test(state) ? `with ${state.replace(/^[\d,]+ /, '')} rows` : kind,
  );
  const counts = [...new Set(states)].map(
    (state) => `${states.filter((each) => each === state).length} ${state}`,
  );
  return `${counted(bars.length, 'run')}: ${inWords(counts, 'and')}`;
}
