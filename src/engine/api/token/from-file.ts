import { readSmallFile } from '../../../base/disk/open-file.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { renewedToken } from './renewed-token.ts';
import { checkToken, type TokenSource } from './token.ts';

/**
 * A token in a file, read at the first use and again, once for each token that the API refuses, so that another program may renew it. White
 * space around it is ignored. Both functions reject with a CqbatchError (usage) when the file cannot be read or contains no token.
 */
export function tokenFromFile(path: string): TokenSource {
  return renewedToken(async () => ({ token: await readTokenFile(path) }));
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
