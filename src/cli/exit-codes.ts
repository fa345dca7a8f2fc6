import type { OutcomeCounts } from '../domain.ts';
import type { RunEnd } from '../run/run-here.ts';

/** What the exit code of `cqbatch` means; the README's table says the same. */
export const exitCodes = {
  /** Every row succeeded, or was an identical duplicate of one that did. */
  success: 0,
  /** The run finished; some rows failed or were invalid. */
  rowsFailed: 1,
  /** An error in usage, configuration or manifest: nothing was sent. */
  usage: 2,
  /** Halted by `--max-failures`, or cancelled. */
  halted: 3,
  /** The datastore, the disk or the authentication failed. */
  fatal: 4,
  /** Interrupted by Ctrl-C or SIGTERM. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What a command says with its exit code that has taken a run to its end. */
export function exitCodeOf(end: RunEnd, { failed, invalid }: OutcomeCounts): ExitCode {
  switch (end.state) {
    case 'completed':
      return failed + invalid > 0 ? exitCodes.rowsFailed : exitCodes.success;
    case 'interrupted':
      return exitCodes.interrupted;
    case 'cancelled':
      return exitCodes.halted;
    case 'halted':
      return end.because === 'threshold' ? exitCodes.halted : exitCodes.fatal;
  }
}
