import { CqbatchError } from '../../../base/errors/errors.ts';
import { failureCodes } from '../../../domain/codes.ts';
import { type ApiFailure, apiFailure } from '../failure.ts';
import { requestHeaders } from '../request.ts';
import { checkToken, type TokenSource } from './token.ts';
import { createTokenMask, type TokenMask } from './token-mask.ts';

/** Kept while the token stays the same. */
export interface Credentials {
  readonly token: string;
  readonly headers: string[];
  readonly headersWithBody: string[];
  readonly mask: TokenMask;
}

/** Each function returns a failure when there is no token. */
export function credentialsFrom(tokens: TokenSource, userAgent: string | undefined) {
  let latest: Credentials | undefined;

  async function derive(read: () => Promise<string>): Promise<Credentials | ApiFailure> {
    try {
      const token = await read();
      if (latest?.token !== token) latest = credentialsOf(token, userAgent);
      return latest;
    } catch (error) {
      return tokenFailure(error);
    }
  }

  return {
    current: () => derive(() => tokens.current()),
    areLatest: (credentials: Credentials) => credentials === latest,
    /** For credentials that the API has refused; returns the same if there are no others. */
    after: (refused: Credentials) =>
      derive(async () => (await tokens.refresh(refused.token)) ?? refused.token),
  };
}

function credentialsOf(text: string, userAgent: string | undefined): Credentials {
  const token = checkToken(text);
  // A list, because undici modifies an object when there is a proxy.
  const headersOf = (hasBody: boolean) =>
    Object.entries(requestHeaders(token, { hasBody, userAgent })).flat();
  return { token, headers: headersOf(false), headersWithBody: headersOf(true), mask: createTokenMask(token) };
}

/** Errors of a foreign token source might quote the token. */
function tokenFailure(error: unknown): ApiFailure {
  if (!(error instanceof CqbatchError))
    return apiFailure('TOKEN_UNREADABLE', 'The access token could not be read');
  const code = failureCodes.find((each) => each === error.code) ?? 'TOKEN_UNREADABLE';
  return apiFailure(code, error.message);
}
