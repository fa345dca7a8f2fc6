import { type TokenSource, tokenFromFile, tokenFromValue } from '../api/token.ts';
import { usageError } from '../errors.ts';
import { environment } from './config/load.ts';
import type { Settings } from './config/settings.ts';

/**
 * The access token: from the file that flag, environment or configuration name, else from `CQBATCH_TOKEN`. Never from
 * a flag, which other users of the machine could read.
 *
 * @throws a usage error when there is none.
 */
export function tokenSource({ tokenFile }: Settings): TokenSource {
  if (tokenFile !== undefined) return tokenFromFile(tokenFile);
  const token = environment['CQBATCH_TOKEN'];
  if (token) return tokenFromValue(token);
  throw usageError(
    'TOKEN_MISSING',
    'There is no access token: set CQBATCH_TOKEN, or name a file that holds it with --token-file.',
  );
}
