import { inspect } from 'node:util';

/**
 * The errors that end a command. Each has a stable `code`, a message for people that names the remedy, and a `kind` that
 * determines the exit code. Expected failures of a row or an API call are not errors but values (see `domain.ts` and
 * `api/failure.ts`).
 */

/**
 * `usage`: nothing was sent, and the user can correct it. `fatal`: the datastore or the authentication failed. `busy`: another
 * process is in the way, and the same command may work later.
 */
export type ErrorKind = 'usage' | 'fatal' | 'busy';

export class CqbatchError extends Error {
  override readonly name = 'CqbatchError';
  readonly code: string;
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
    this.code = code;
  }
}

/** An error of a driver that has its meaning for users as its cause, or the error itself. */
export function meaningOf(error: unknown): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return !(error instanceof CqbatchError) && cause instanceof CqbatchError ? cause : error;
}

/** An error in flags, environment, configuration or manifest: nothing was sent. */
export function usageError(code: string, message: string, cause?: unknown): CqbatchError {
  return new CqbatchError('usage', code, message, { cause });
}

/** The datastore or the authentication failed; earlier results are in the journal. */
export function fatalError(code: string, message: string, cause?: unknown): CqbatchError {
  return new CqbatchError('fatal', code, message, { cause });
}

/** Another process has what is needed, or works on the run already; nothing was sent. */
export class BusyError extends CqbatchError {
  /** The part of the message that says what is busy. */
  readonly what: string;

  constructor(code: string, what: string, remedy: string) {
    super('busy', code, `${what}. ${remedy}`);
    this.what = what;
  }
}

/** What was thrown, as text: code of users may throw anything. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : error;
  return typeof text === 'string' ? text : inspect(text);
}

/**
 * Why a server can't be reached at the address that the user wants.
 *
 * @param of what the names of the flags for host and port begin with
 */
export function cannotListen(host: string, port: number, cause: unknown, of = ''): CqbatchError {
  const reason =
    cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
      ? `port ${port} is in use; choose another one with --${of}port, or any free one with --${of}port 0`
      : `can't listen on ${host}:${port}: ${errorText(cause)}; see --${of}host and --${of}port`;
  return usageError('CANNOT_LISTEN', reason, cause);
}
