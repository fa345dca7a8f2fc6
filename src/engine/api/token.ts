import { createHash } from 'node:crypto';
import { readSmallFile } from '../../base/disk/files.ts';
import { CqbatchError, usageError } from '../../base/errors/errors.ts';

/** Where the Bearer token comes from (interface document, section 5). */
export interface TokenSource {
  /** Resolves with the token to use now. Rejects when no token is available. */
  readonly current: () => Promise<string>;
  /**
   * Called when the API has refused a token (401): reads the token again. Resolves with undefined if the token of this source never
   * changes. Rejects when no token is available any more.
   */
  readonly refresh: () => Promise<string | undefined>;
}

/**
 * A token that does not change.
 *
 * @throws CqbatchError (usage) when it is empty or cannot be sent in a header
 */
export function tokenFromValue(text: string): TokenSource {
  const token = checkToken(text);
  return { current: async () => token, refresh: async () => undefined };
}

/**
 * A token in a file, read at the first use and again when the API refuses it, so that another program may renew it. White space
 * around it is ignored. Both functions reject with a CqbatchError (usage) when the file cannot be read or contains no token.
 */
export function tokenFromFile(path: string): TokenSource {
  let reading: Promise<string> | undefined;
  let lastToken: string | undefined;
  // Calls that are refused at the same time share one read.
  const read = (): Promise<string> => {
    reading ??= readTokenFile(path)
      .then((token) => {
        lastToken = token;
        return token;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  return { current: async () => lastToken ?? (await read()), refresh: read };
}

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
 * Four hexadecimal digits that distinguish the few tokens of a user, so that what was learned with one token is not used for
 * another. They do not reveal the token: one in 65,536 of all texts has the same digits.
 */
export function tokenMark(token: string): string {
  return createHash('sha256').update(`callquality-batch ${token}`).digest('hex').slice(0, 4);
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return checkToken(await readSmallFile(path));
  } catch (error) {
    if (error instanceof CqbatchError) throw error;
    const { code, message: why } = error as NodeJS.ErrnoException;
    const message = `The token file ${path} cannot be read (${code ?? why}): check --token-file or CQBATCH_TOKEN_FILE`;
    throw usageError('TOKEN_UNREADABLE', message, error);
  }
}
