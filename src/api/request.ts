import { acceptedEncodings } from './network/content-encoding.ts';

/** A request as it goes out: POST of `body` (JSON text) to `path` below the base URL. */
export interface ApiRequest {
  /** Begins with `/`. */
  readonly path: string;
  readonly body: string;
}

/** What the client calls itself unless told otherwise. */
export const defaultUserAgent = 'callquality-batch';

/** The headers of every request (interface document, sections 4 and 5), beside those that HTTP itself needs. */
export function requestHeaders(
  token: string,
  userAgent = defaultUserAgent,
): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': acceptedEncodings,
    'user-agent': userAgent,
  };
}
