import { systemError } from '../../../base/errors/system-error.ts';

/** The error ends the session: a refusal of the system, or an error from outside PostgreSQL. */
export function isFinal(error: { readonly name: string }): boolean {
  return (
    systemError(error) !== undefined || ['RuntimeError', 'ErrnoError', 'ExitStatus'].includes(error.name)
  );
}
