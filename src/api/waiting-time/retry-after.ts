import { httpDateMs } from '../server-time.ts';

/**
 * The waiting time of a `Retry-After` field in milliseconds (RFC 9110, section 10.2.3): seconds, also with decimals as
 * some servers send them, or an HTTP date. A date in the past means 0; undefined when the value is malformed.
 *
 * @param now the server's time in milliseconds since 1970
 */
export function retryAfterMs(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = httpDateMs(text);
  return date === undefined ? undefined : Math.max(0, date - now);
}
