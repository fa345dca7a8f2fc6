import { CqbatchError } from '../../../base/errors/errors.ts';
import { failureCodes } from '../../../domain/codes.ts';
import { type ApiFailure, apiFailure } from '../failure.ts';
import { type ApiRequest, type Auth, requestHeaders } from '../request.ts';
import { checkToken, type TokenSource } from './token.ts';
import { createTokenMask, type TokenMask } from './token-mask.ts';

/** A token with its mask and headers, which are made once for each token. */
export interface Credentials {
  readonly token: string;
  readonly mask: TokenMask;
  /** The headers as a list of names and values: undici modifies an object when there is a proxy. */
  readonly headersOf: (request: Pick<ApiRequest, 'auth' | 'body'>) => string[];
}

/** Makes credentials from a source of tokens. The functions that read a token return a failure when there is none. */
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
    /** The credentials after the API has refused some. Returns the refused ones if there are no others. */
    after: (refused: Credentials) =>
      derive(async () => (await tokens.refresh(refused.token)) ?? refused.token),
  };
}

function credentialsOf(text: string, userAgent: string | undefined): Credentials {
  const token = text === '' ? '' : checkToken(text);
  // The headers by `auth`, compared by identity: an operation has one object for all its requests.
  const made = new Map<Auth, Readonly<Record<'true' | 'false', string[]>>>();
  const headersFor = (auth: Auth) => {
    const value = auth === 'basic' ? basicValue(token) : token;
    const headersWith = (hasBody: boolean) =>
      Object.entries(requestHeaders(value, { auth, hasBody, userAgent })).flat();
    const headers = { true: headersWith(true), false: headersWith(false) };
    made.set(auth, headers);
    return headers;
  };
  return {
    token,
    mask: maskOf(token),
    headersOf: ({ auth = 'bearer', body }) =>
      (made.get(auth) ?? headersFor(auth))[body === '' ? 'false' : 'true'],
  };
}

function basicValue(userAndPassword: string): string {
  return Buffer.from(userAndPassword).toString('base64');
}

/** Masks the token, what a basic authentication makes of it, and the password in it. */
function maskOf(token: string): TokenMask {
  if (token === '') return { text: (text) => text, json: (value) => value };
  const colon = token.indexOf(':');
  const secrets = [token, ...(colon < 0 ? [] : [basicValue(token), token.slice(colon + 1)])];
  const masks = secrets.filter((secret) => secret !== '').map(createTokenMask);
  return {
    text: (text) => masks.reduce((masked, mask) => mask.text(masked), text),
    json: (value, source) => masks.reduce((masked, mask) => mask.json(masked, source), value),
  };
}

/** Why the token can't be sent with this `auth`. Undefined if it can. */
export function authFailure({ token }: Credentials, auth: Auth = 'bearer'): ApiFailure | undefined {
  if (auth === 'none') return undefined;
  if (token === '') return apiFailure('TOKEN_EMPTY', 'The access token is missing: this operation needs one');
  if (auth !== 'basic' || token.includes(':')) return undefined;
  return apiFailure(
    'TOKEN_MALFORMED',
    'The access token must be user:password, because the operation has auth: "basic"',
  );
}

/** The failure for an error of a token source. Errors of other origin are not quoted: they might have the token. */
function tokenFailure(error: unknown): ApiFailure {
  if (!(error instanceof CqbatchError))
    return apiFailure('TOKEN_UNREADABLE', 'The access token could not be read');
  const code = failureCodes.find((each) => each === error.code) ?? 'TOKEN_UNREADABLE';
  return apiFailure(code, error.message);
}
