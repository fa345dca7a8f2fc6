import { acceptedEncodings } from './network/content-encoding.ts';

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
