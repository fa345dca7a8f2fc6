import { type AnswerHeaders, headerValues } from '../headers.ts';
import { serverTime } from '../server-time.ts';
import { rateLimitMs, rateLimitResetMs } from './rate-limit.ts';
import { retryAfterMs } from './retry-after.ts';
import { retryInfoMs } from './retry-info.ts';

/**
 * The longest waiting time that is believed, in milliseconds: 24 hours, because an API with a daily quota may ask to
 * wait until midnight. Longer ones are cut to it.
 */
export const maxWaitMs = 86_400_000;

/**
 * How long an answer asks to wait, in whole milliseconds from 0 to `maxWaitMs`; undefined when it does not say. The
 * first of these that is there and well-formed counts: `Retry-After`, `google.rpc.RetryInfo`, `RateLimit`,
 * `RateLimit-Reset`, `X-RateLimit-Reset`. Times of day are taken relative to the answer's own `Date`, so that a clock
 * that is wrong here does no harm.
 *
 * @param body the parsed JSON body, if there is one
 * @param now milliseconds since 1970, for answers without a `Date`
 */
export function waitingTime(headers: AnswerHeaders, body: unknown, now: number): number | undefined {
  const serverNow = serverTime(headers, now);
  const wait =
    firstOf(headerValues(headers, 'retry-after'), (value) => retryAfterMs(value, serverNow)) ??
    retryInfoMs(body) ??
    rateLimitMs(headers) ??
    rateLimitResetMs(headers, serverNow);
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), maxWaitMs);
}

function firstOf(values: readonly string[], read: (value: string) => number | undefined): number | undefined {
  for (const value of values) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}
