import { inspect } from 'node:util';
import type { ErrorCode } from './error-codes.ts';

/**
 * `usage`: nothing was sent, and the user can correct the cause. `fatal`: the datastore, the disk or the authentication failed. `busy`:
 * another process is in the way, and the same command may work later.
 */
export type ErrorKind = 'usage' | 'fatal' | 'busy';

/**
 * An error that ends a command or a batch. Its `code` is stable, its message tells people the remedy, its `kind` determines the exit code.
 * Expected failures of a row or a call are not errors but results (`RowResult`, `ApiFailure`).
 */
export class CqbatchError extends Error {
  override readonly name = 'CqbatchError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
    this.code = code;
  }
}

/** The `CqbatchError` that explains a driver's error, if that is its cause. */
export function meaningOf(error: unknown): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return !(error instanceof CqbatchError) && cause instanceof CqbatchError ? cause : error;
}

/** An error before anything was sent: flags, environment, configuration or manifest are wrong. */
export function usageError(code: ErrorCode, message: string, cause?: unknown): CqbatchError {
  return new CqbatchError('usage', code, message, { cause });
}

/** An error of the datastore, the disk or the authentication. Earlier results are in the journal. */
export function fatalError(code: ErrorCode, message: string, cause?: unknown): CqbatchError {
  return new CqbatchError('fatal', code, message, { cause });
}

/** An error before anything was sent: another process uses what this one needs, or already works on the run. */
export class BusyError extends CqbatchError {
  readonly what: string;

  constructor(code: ErrorCode, what: string, remedy: string) {
    super('busy', code, `${what}. ${remedy}`);
    this.what = what;
  }
}

/** The text of what was thrown: code of users may throw values that are not errors. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : error;
  return typeof text === 'string' ? text : inspect(text);
}

/**
 * A server can't listen at an address.
 *
 * @param of beginning of the flags for host and port: `health-` for `--health-port`
 */
export function cannotListen(host: string, port: number, cause: unknown, of = ''): CqbatchError {
  const reason =
    cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
      ? `port ${port} is in use; choose another one with --${of}port, or any free one with --${of}port 0`
      : `can't listen on ${host}:${port}: ${errorText(cause)}; see --${of}host and --${of}port`;
  return usageError('CANNOT_LISTEN', reason, cause);
}
