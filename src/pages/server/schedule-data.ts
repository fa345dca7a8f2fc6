import { withoutRunWords } from '../../daemon/schedule/occasion-words.ts';
import type { HistoryEntry } from '../../daemon/schedule/schedule.ts';
import { type RunData, type ScheduleData, stateOf } from './page-data.ts';

/** The last occasion of a history, and the last that started runs if that is another one. */
export function lastOccasions(history: readonly HistoryEntry[]): Pick<ScheduleData, 'last' | 'lastWithRuns'> {
  const last = history.at(-1);
  const withRuns = history.findLast((entry) => entry.result === 'began' && entry.runs.length > 0);
  return { last, lastWithRuns: withRuns === last ? undefined : withRuns };
}

/** The runs that the last occasion with runs has started. */
export function lastRunsOf(history: readonly HistoryEntry[]): readonly string[] {
  const { last, lastWithRuns } = lastOccasions(history);
  return [last, lastWithRuns].flatMap((entry) => (entry?.result === 'began' ? entry.runs : []));
}

/** A part of what the page says of an occasion. */
export interface OccasionPart {
  readonly text: string;
  /** The CSS class for color and icon. Absent for plain text. */
  readonly kind?: string;
  /** The run that the text is about. */
  readonly run?: string;
}

/** What came of an occasion: for each run how it ended, which files were refused, or why no run was started. */
export function occasionParts(
  entry: HistoryEntry,
  runOf: (id: string) => RunData | undefined,
): readonly OccasionPart[] {
  if (entry.result !== 'began') {
    const { what, why } = withoutRunWords(entry);
    if (entry.result === 'idle') return [{ text: why }];
    return [{ text: `${what}: ${why}`, ...(entry.result !== 'skipped' && { kind: kindOf[entry.result] }) }];
  }
  const runs = entry.runs.map((id): OccasionPart => {
    const run = runOf(id);
    return run === undefined ? { run: id, text: 'removed or damaged since' } : { run: id, ...stateOf(run) };
  });
  const refused = entry.refused ?? [];
  return [...runs, ...refused.map((name) => ({ text: `${name} refused`, kind: 'failed' }))];
}

const kindOf = { missed: 'attention', failed: 'failed' } as const;
