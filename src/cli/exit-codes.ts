import { CqbatchError, meaningOf } from '../base/errors/errors.ts';
import { systemError } from '../base/errors/system-error.ts';
import type { OutcomeCounts } from '../domain/terms.ts';
import { type KnownEnd, type RunResult, resultOf } from '../engine/run/record/run-outcome.ts';

/** See docs/exit-codes.md. */
export const exitCodes = {
  /** Every row succeeded, duplicates a row that did, or was skipped on purpose. */
  success: 0,
  /** Some rows failed or were invalid; or `verify` or `check` found something wrong. */
  rowsFailed: 1,
  /** An error in usage, configuration or manifest: nothing was sent. */
  usage: 2,
  /** Halted after too many failures, or cancelled. */
  halted: 3,
  /** The datastore, the disk or the authentication failed. */
  fatal: 4,
  /** Another process holds a lock, or works on the run: nothing was sent. */
  busy: 5,
  /** `--max-rows`, `--max-duration` or `--stop-at` was reached; the run can be resumed. */
  spent: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const exitCodeOfResult = {
  succeeded: exitCodes.success,
  rows_failed: exitCodes.rowsFailed,
  halted: exitCodes.halted,
  cancelled: exitCodes.halted,
  spent: exitCodes.spent,
  interrupted: exitCodes.interrupted,
  failed: exitCodes.fatal,
} as const satisfies Record<RunResult, ExitCode>;

export function exitCodeOf(end: KnownEnd, counts: OutcomeCounts): ExitCode {
  return exitCodeOfResult[resultOf(end, counts)];
}

export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** A question leaves the cursor on its line. Work may have changed something. */
  readonly at: 'question' | 'wait' | 'work';

  constructor(at: Interrupted['at']) {
    super();
    this.at = at;
  }
}

export function knownError(thrown: unknown): CqbatchError | undefined {
  const error = meaningOf(thrown);
  return error instanceof CqbatchError ? error : systemError(error);
}

export function exitCodeOfError(error: unknown): ExitCode {
  return exitCodes[error instanceof Interrupted ? 'interrupted' : (knownError(error)?.kind ?? 'fatal')];
}
