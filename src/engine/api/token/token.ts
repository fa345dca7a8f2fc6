import { createHash } from 'node:crypto';
import { usageError } from '../../../base/errors/errors.ts';

/** Where tokens come from (interface document, section 5). */
export interface TokenSource {
  /** The token to use now. Rejects when no token is available. */
  readonly current: () => Promise<string>;
  /**
   * After a 401: reads the token again, unless it has changed since. Undefined when this source cannot change. Rejects when the token is no
   * longer available.
   *
   * @param refused the refused token; calls that come back late may have used an earlier one
   */
  readonly refresh: (refused?: string) => Promise<string | undefined>;
}

/** A token that never changes. @throws CqbatchError (usage) when it is empty or cannot be sent in a header */
export function tokenFromValue(text: string): TokenSource {
  const token = checkToken(text);
  return { current: async () => token, refresh: async () => undefined };
}

/** A source without a token, for operations with `auth: 'none'` only: a call that needs one fails with `TOKEN_EMPTY`. */
export const noToken: TokenSource = { current: async () => '', refresh: async () => undefined };

/**
 * The token without white space around it. Errors never quote it.
 *
 * @throws CqbatchError (usage) when it is empty or not a word of visible ASCII characters (RFC 6750, section 2.1).
 */
export function checkToken(text: string): string {
  const token = text.trim();
  if (token === '') {
    throw usageError(
      'TOKEN_EMPTY',
      'The access token is empty: set CQBATCH_TOKEN, or write it into the token file',
    );
  }
  if (!/^[\x21-\x7e]{1,16384}$/.test(token)) {
    throw usageError(
      'TOKEN_MALFORMED',
      'The access token contains spaces, control characters or non-ASCII letters: give only the token, on one line, without "Bearer"',
    );
  }
  return token;
}

/**
 * Four hexadecimal digits that distinguish the few tokens of a user, so that what was learned with one is not used for another. One in
 * 65,536 of all texts has the same mark, so it does not reveal the token.
 */
export function tokenMark(token: string): string {
  return createHash('sha256').update(`callquality-batch ${token}`).digest('hex').slice(0, 4);
}
