import type { Attribution } from '../../../domain/actor.ts';
import type { OutcomeCounts, StopManner } from '../../../domain/terms.ts';
import type { WhyUnfinished } from '../../report/join-results.ts';
import type { RowToSee } from '../../report/next-step.ts';

/** Results of a run; each has an exit code. */
export const runResults = [
  'succeeded',
  'rows_failed',
  'halted',
  'cancelled',
  'spent',
  'interrupted',
  'failed',
] as const;

export type RunResult = (typeof runResults)[number];

/** What records, terminal, pages, notifications, metrics, library and exit code say of one way to end. */
export interface EndFacts {
  /** The state of the run in `run.json`. */
  readonly state: 'completed' | 'cancelled' | 'interrupted' | 'halted' | 'failed';
  /** Completes `The run …` in lists: `gave up`. */
  readonly words: string;
  /** Completes `Run <id> …` when a command finds the run ended. */
  readonly sentence: string;
  /** Stands before the reason: `Halted: 8 of the first 10 rows failed`. Absent where the reason is the user's. */
  readonly heading?: string;
  readonly manner: StopManner;
  /** The command that calls rows after this end. A run that needs `retry` calls no row any more. */
  readonly next: 'resume' | 'retry';
  /** The rows that the next command calls. */
  readonly nextRows: string;
  /** What a report says of rows without a result. */
  readonly unfinished: Exclude<WhyUnfinished, 'pending'>;
  readonly result: RunResult;
  /** The exit code, as docs/exit-codes.md explains it. */
  readonly exitCode: 0 | 1 | 3 | 4 | 6 | 130;
}

const completion = {
  state: 'completed',
  words: 'completed',
  sentence: 'is already completed',
  manner: 'as wished',
  next: 'retry',
  nextRows: 'the failed rows again',
  unfinished: 'interrupted',
} as const;

const interruption = {
  state: 'interrupted',
  words: 'interrupted',
  sentence: 'is interrupted',
  heading: 'Stopped',
  manner: 'as wished',
  next: 'resume',
  nextRows: 'the rows without a result',
  unfinished: 'interrupted',
} as const;

const haltByGuard = {
  state: 'halted',
  words: 'halted',
  sentence: 'is halted',
  heading: 'Halted',
  manner: 'halted',
  next: 'resume',
  nextRows: 'the rows without a result',
  unfinished: 'halted',
  result: 'halted',
  exitCode: 3,
} as const;

/** The ways in which a run ends, by cause. */
export const endings = {
  /** Every row has its result, and none failed or was invalid. */
  completed: { ...completion, result: 'succeeded', exitCode: 0 },
  /** Every row has its result, and some failed or were invalid. */
  rowsFailed: { ...completion, result: 'rows_failed', exitCode: 1 },
  /** A user ended the run for good. */
  cancelled: {
    state: 'cancelled',
    words: 'cancelled',
    sentence: 'was cancelled',
    manner: 'as wished',
    next: 'retry',
    nextRows: 'the rows that are not done',
    unfinished: 'cancelled',
    result: 'cancelled',
    exitCode: 3,
  },
  /** A user stopped the run, or its process died. */
  interrupted: { ...interruption, result: 'interrupted', exitCode: 130 },
  /** `--max-rows`, `--max-duration` or `--stop-at` is used up. */
  budget: { ...interruption, result: 'spent', exitCode: 6 },
  /** A guard halted the run: for example, more rows failed than are allowed. The reason says which guard. */
  guard: haltByGuard,
  /** A user stopped the run after its canary, or too many rows of the canary failed. */
  canary: haltByGuard,
  /** No row can succeed: wrong token, base URL or permission, or the API is unavailable. Or this process's worker can't continue. */
  stuck: {
    ...haltByGuard,
    words: 'gave up',
    sentence: 'gave up',
    heading: 'Gave up',
    manner: 'gave up',
    unfinished: 'gave up',
    result: 'failed',
    exitCode: 4,
  },
  /** The datastore or the disk failed. */
  failed: {
    state: 'failed',
    words: 'failed',
    sentence: 'failed',
    manner: 'gave up',
    next: 'resume',
    nextRows: 'the rows without a result',
    unfinished: 'interrupted',
    result: 'failed',
    exitCode: 4,
  },
} as const satisfies Readonly<Record<string, EndFacts>>;

export type EndCause = keyof typeof endings;

/** Causes that the record keeps beside the state, because other ends have the same state. */
export const keptCauses = ['budget', 'guard', 'canary', 'stuck'] as const satisfies readonly EndCause[];

export type KeptCause = (typeof keptCauses)[number];

/** The end of a run as it is stored. The state may be one in which a run goes on, or come from another version. */
export interface StoredEnd {
  readonly state: string;
  readonly because?: string | undefined;
}

/** How a run ends whose datastore and disk have not failed. */
export type RunEnding = Attribution & { readonly rowToSee?: RowToSee } & (
    | { readonly state: 'completed' | 'cancelled' }
    | { readonly state: 'interrupted'; readonly because?: 'budget' }
    | { readonly state: 'halted'; readonly because: Exclude<KeptCause, 'budget'> }
  );

/** A user pauses the run, or the run pauses itself after its canary. */
export type RunPause = Attribution & { readonly state: 'paused'; readonly because?: 'canary' };

/** The cause of an end; undefined for a run that has not ended. A cause of another version counts as the usual cause of its state. */
export function causeOf(end: StoredEnd): Exclude<EndCause, 'rowsFailed'> | undefined {
  const kept = keptCauses.find((cause) => cause === end.because && endings[cause].state === end.state);
  if (kept !== undefined) return kept;
  switch (end.state) {
    case 'completed':
    case 'cancelled':
    case 'interrupted':
    case 'failed':
      return end.state;
    case 'halted':
      return 'guard';
    default:
      return undefined;
  }
}

/** The facts of an end. Undefined for a run that has not ended. */
export function endFactsOf(end: StoredEnd, counts?: OutcomeCounts): EndFacts | undefined {
  const cause = causeOf(end);
  if (cause === undefined) return undefined;
  const isAllRight = cause !== 'completed' || counts === undefined || counts.failed + counts.invalid === 0;
  return endings[isAllRight ? cause : 'rowsFailed'];
}

/** The words for an end. For a run that has not ended, its state. */
export function endInWords(end: StoredEnd): string {
  return endFactsOf(end)?.words ?? end.state;
}

/** Whether a run in this state will never call a row again, not even by `resume`. */
export function isFinalState(state: string): boolean {
  return endFactsOf({ state })?.next === 'retry';
}

/** The result of a run. A run that has not ended, such as a planned one, has failed to do its work. */
export function resultOf(end: StoredEnd, counts: OutcomeCounts): RunResult {
  return (endFactsOf(end, counts) ?? endings.failed).result;
}

/** Whether a run with this result can be resumed. */
export function leavesRows(result: RunResult): boolean {
  return Object.values(endings).some((ending) => ending.result === result && ending.next === 'resume');
}
