import type { Outcome } from '../../domain.ts';
import type { RunEnd } from '../../run/run-here.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';

/** What a command says with its exit code that has taken a run to its end. */
export function exitCodeOf(end: RunEnd, { failed, invalid }: Readonly<Record<Outcome, number>>): ExitCode {
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
