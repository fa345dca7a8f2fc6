import type { OutcomeCounts } from '../domain.ts';
import { CqbatchError } from '../errors.ts';
import { type KnownEnd, type RunResult, resultOf } from '../index.ts';
import { systemError } from '../system-error.ts';

/** What the exit code of `cqbatch` means; docs/exit-codes.md says the same. */
export const exitCodes = {
  /** Every row succeeded, was an identical duplicate of one that did, or was skipped on purpose. */
  success: 0,
  /** The run finished; some rows failed or were invalid. */
  rowsFailed: 1,
  /** An error in usage, configuration or manifest: nothing was sent. */
  usage: 2,
  /** Halted by a guard, because too much failed, or cancelled. */
  halted: 3,
  /** The datastore, the disk or the authentication failed. */
  fatal: 4,
  /** Another process holds a lock that is needed, or the run is being worked on: nothing was sent. */
  busy: 5,
  /** What `--max-rows`, `--max-duration` or `--stop-at` allow is spent; the run waits to be resumed. */
  spent: 6,
  /** Interrupted by Ctrl-C or SIGTERM. */
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

/** What a command says with its exit code that has seen a run to its end. */
export function exitCodeOf(end: KnownEnd, counts: OutcomeCounts): ExitCode {
  return exitCodeOfResult[resultOf(end, counts)];
}

/** The user pressed Ctrl-C before anything was done, and the command ends. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** At a question, the terminal is still on its line. */
  readonly at: 'question' | 'wait';

  constructor(at: 'question' | 'wait') {
    super();
    this.at = at;
  }
}

/** The error behind what was thrown, if it is one that people can do something about. */
export function knownError(error: unknown): CqbatchError | undefined {
  return error instanceof CqbatchError ? error : systemError(error);
}

/** What a command says with its exit code that an error, or the user, has ended. */
export function exitCodeOfError(error: unknown): ExitCode {
  return exitCodes[error instanceof Interrupted ? 'interrupted' : (knownError(error)?.kind ?? 'fatal')];
}
