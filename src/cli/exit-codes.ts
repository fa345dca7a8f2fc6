import { CqbatchError, meaningOf } from '../base/errors/errors.ts';
import { systemError } from '../base/errors/system-error.ts';
import type { OutcomeCounts } from '../domain/terms.ts';
import { endFactsOf, endings, type StoredEnd } from '../engine/run/record/ending.ts';

/** The exit codes of all commands. See docs/exit-codes.md. */
export const exitCodes = {
  /** Every row succeeded, was a duplicate of one that succeeded, or was skipped on purpose. */
  success: endings.completed.exitCode,
  /** Some rows failed or were invalid; or `verify` or `check` found something wrong. */
  rowsFailed: endings.rowsFailed.exitCode,
  /** An error in usage, configuration or manifest: nothing was sent. */
  usage: 2,
  /** A run was halted after too many failures, or cancelled. */
  halted: endings.guard.exitCode,
  /** The datastore, the disk or the authentication failed. */
  fatal: endings.failed.exitCode,
  /** Another process holds a lock, or works on the run: nothing was sent. */
  busy: 5,
  /** `--max-rows`, `--max-duration` or `--stop-at` was reached; the run can be resumed. */
  spent: endings.budget.exitCode,
  interrupted: endings.interrupted.exitCode,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export function exitCodeOf(end: StoredEnd, counts: OutcomeCounts): ExitCode {
  return (endFactsOf(end, counts) ?? endings.failed).exitCode;
}

export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** What a signal interrupted. A question leaves the cursor on its line; work may have changed something. */
  readonly interruptedAt: 'question' | 'wait' | 'work';

  constructor(at: Interrupted['interruptedAt']) {
    super();
    this.interruptedAt = at;
  }
}

export function knownError(thrown: unknown): CqbatchError | undefined {
  const error = meaningOf(thrown);
  return error instanceof CqbatchError ? error : systemError(error);
}

export function exitCodeOfError(error: unknown): ExitCode {
  return exitCodes[error instanceof Interrupted ? 'interrupted' : (knownError(error)?.kind ?? 'fatal')];
}
