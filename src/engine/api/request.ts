import type { Method } from '../../domain/terms.ts';
import { acceptedEncodings } from './network/content-encoding.ts';

/** A request of the API, without the headers that the client adds. */
export interface ApiRequest {
  /** Default: POST. */
  readonly method?: Method;
  /** The path below the base URL, with the query; begins with `/`. */
  readonly path: string;
  /** JSON text; empty: the request has no body. */
  readonly body: string;
}

export const defaultUserAgent = 'callquality-batch';

/** The headers of a request (interface document, sections 4 and 5), without those that HTTP itself needs. */
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
