import type { Method } from '../../domain/terms.ts';
import { acceptedEncodings } from './network/content-encoding.ts';

/**
 * How a request names its caller, by what the source of the token has: `bearer` (RFC 6750), `basic` (RFC 7617: user and password, with a
 * colon between), as the value of a header, or not at all.
 */
export type Auth = 'bearer' | 'basic' | 'none' | { readonly header: string };

/** A request without the headers that the client adds. */
export interface ApiRequest {
  /** The HTTP method. Default: POST. */
  readonly method?: Method;
  /** The path below the base URL, with the query; begins with `/`. */
  readonly path: string;
  /** Headers by lower-case name; they replace those of the client. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body, as JSON text. Empty when there is none. */
  readonly body: string;
  /** How the request names its caller. Default: `bearer`. */
  readonly auth?: Auth | undefined;
}

export const defaultUserAgent = 'callquality-batch';

/** The headers of the interface document, sections 4 and 5, without those that HTTP itself needs. */
export function requestHeaders(
  token: string,
  {
    auth,
    hasBody,
    userAgent = defaultUserAgent,
  }: Pick<ApiRequest, 'auth'> & { readonly hasBody: boolean; readonly userAgent?: string | undefined },
): Readonly<Record<string, string>> {
  return {
    ...authHeader(token, auth),
    ...(hasBody && { 'content-type': 'application/json' }),
    accept: 'application/json',
    'accept-encoding': acceptedEncodings,
    'user-agent': userAgent,
  };
}

function authHeader(token: string, auth: Auth = 'bearer'): Readonly<Record<string, string>> {
  if (auth === 'none') return {};
  if (typeof auth === 'object') return { [auth.header.toLowerCase()]: token };
  return { authorization: auth === 'basic' ? `Basic ${token}` : `Bearer ${token}` };
}

/** Adds the headers of a request to those of the client. @param own replace headers of the same name */
export function withHeaders(headers: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const all: string[] = [];
  // This is a loop instead of a chain of functions, because it runs for each call.
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (own[name] === undefined) all.push(name, headers[index + 1] ?? '');
  }
  for (const name of Object.keys(own)) all.push(name, own[name] ?? '');
  return all;
}
