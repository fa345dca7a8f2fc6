import type { Outcome, OutcomeCounts, StopManner } from '../../domain/terms.ts';
import type { RowFacts, RowStep } from './row-steps.ts';

/** What a person does next. Terminal, pages, notifications and JSON show the same steps, in the same order. */
export interface NextStep {
  /** The title of the step: `Retry 84 rows`. */
  readonly title: string;
  /** What to look at before the step: `all 39 unclear`. */
  readonly first?: string;
  readonly text: string;
  readonly command?: string;
  /** The group of rows that the step is about. */
  readonly group: StepGroup;
  readonly rows: number;
  /** Present if there is nothing to do. */
  readonly isNote?: true;
}

/** The rows that a step is about: those of an outcome or of a `RowStep`, all unclear ones, or all. */
export type StepGroup = Outcome | RowStep | 'all unclear' | 'all';

/** A row at which a person should look before anything is called again, by its number in the manifest. */
export interface RowToSee {
  readonly row: number;
  /** Why the row failed. Absent for a row without a result. */
  readonly failure?: { readonly code: string; readonly message: string };
}

/** Whether a run calls further rows by itself, only when it is resumed, or never. */
export type RunPhase = 'in progress' | 'stopped' | 'ended';

/** A run that a person may resume. */
export interface ResumableRun {
  readonly id: string;
  /** Whether the run was submitted, so that a daemon continues it. */
  readonly submitted?: boolean | undefined;
}

export interface StepFacts extends RowFacts, ResumableRun {
  readonly phase: RunPhase;
  /** How the run ended. Undefined while the run has not ended. */
  readonly manner: StopManner | undefined;
  readonly rowToSee: RowToSee | undefined;
  /** Whether the failure of the row to see may mean that its change was already made. */
  readonly mayBeDone?: boolean;
  readonly outcomes: OutcomeCounts;
  readonly unclear: number;
  /** Whether `cqbatch check` can see what became of the entries. */
  readonly canCheck: boolean;
  /** The last check, if the run has not been at work since. */
  readonly check?: CheckFacts | undefined;
  /** What `cqbatch undo` can do: put values back, or only list the entries. */
  readonly undo?: 'values' | 'list' | undefined;
  /** The path of the file with the rows to correct. */
  readonly correctFile?: string | undefined;
  /** Whether the run retries rows of another run, in whose report it is not included. */
  readonly isPartOfOthers?: boolean;
  /** Whether every row that failed has succeeded in a retry. */
  readonly isCured?: boolean;
  /** A retry that may still call rows. */
  readonly unfinishedRetry?: ResumableRun | undefined;
}

/** What a check says of the unclear rows of a run and its retries. */
export interface CheckFacts {
  /** The id of the first run. */
  readonly run: string;
  /** How many unclear rows failed, and were not done. */
  readonly notDone: number;
}
