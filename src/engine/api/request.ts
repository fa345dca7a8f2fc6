import type { Method } from '../../domain/terms.ts';
import { acceptedEncodings } from './network/content-encoding.ts';

/** A request without the headers that the client adds. */
export interface ApiRequest {
  /** Default: POST. */
  readonly method?: Method;
  /** Below the base URL, with the query; begins with `/`. */
  readonly path: string;
  /** By lower-case name; they replace those of the client. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON text; empty: no body. */
  readonly body: string;
}

export const defaultUserAgent = 'callquality-batch';

/** Interface document, sections 4 and 5; without those that HTTP itself needs. */
export function requestHeaders(
  token: string,
  {
    hasBody,
    userAgent = defaultUserAgent,
  }: { readonly hasBody: boolean; readonly userAgent?: string | undefined },
): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    ...(hasBody && { 'content-type': 'application/json' }),
    accept: 'application/json',
    'accept-encoding': acceptedEncodings,
    'user-agent': userAgent,
  };
}

/** @param own replace headers of the same name */
export function withHeaders(headers: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const all: string[] = [];
  // A loop, because this runs for each call.
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (own[name] === undefined) all.push(name, headers[index + 1] ?? '');
  }
  for (const name of Object.keys(own)) all.push(name, own[name] ?? '');
  return all;
}
