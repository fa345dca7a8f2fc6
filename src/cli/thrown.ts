import { CqbatchError } from '../errors.ts';
import { systemError } from '../system-error.ts';
import { type ExitCode, exitCodeOfKind, exitCodes } from './exit-codes.ts';
import { Interrupted } from './interrupt.ts';

/** The error behind what was thrown, if it is one that people can do something about. */
export function knownError(error: unknown): CqbatchError | undefined {
  return error instanceof CqbatchError ? error : systemError(error);
}

/** What a command says with its exit code that an error, or the user, has ended. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return exitCodeOfKind[knownError(error)?.kind ?? 'fatal'];
}
