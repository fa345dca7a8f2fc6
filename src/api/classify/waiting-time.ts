import { type AnswerHeaders, firstReadable, httpDateMs, serverTime } from '../headers.ts';
import { counterLimits } from '../limits/counter-limits.ts';
import { policyLimits } from '../limits/policy-limits.ts';
import { statedNumber } from '../limits/stated-limit.ts';

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
    firstReadable(headers, 'retry-after', (value) => retryAfterMs(value, serverNow)) ??
    retryInfoMs(body) ??
    rateLimitMs(headers) ??
    rateLimitResetMs(headers, serverNow);
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), maxWaitMs);
}

/**
 * The waiting time of a `Retry-After` field in milliseconds (RFC 9110, section 10.2.3): seconds, also with decimals as
 * some servers send them, or an HTTP date. A date in the past means 0; undefined when the value is malformed.
 *
 * @param now the server's time in milliseconds since 1970
 */
function retryAfterMs(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = httpDateMs(text);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/**
 * The waiting time of a `google.rpc.RetryInfo` in the details of an error body, in milliseconds
 * (`google/rpc/error_details.proto`). The delay is a Protocol Buffers duration: `"30s"`, `"1.5s"`, or
 * `{"seconds":1,"nanos":500000000}` as some servers write it.
 */
function retryInfoMs(body: unknown): number | undefined {
  for (const details of [get(body, 'details'), get(get(body, 'error'), 'details')]) {
    if (!Array.isArray(details)) continue;
    for (const detail of details) {
      const type = get(detail, '@type');
      if (typeof type === 'string' && !type.endsWith('google.rpc.RetryInfo')) continue;
      const delay = durationMs(get(detail, 'retryDelay') ?? get(detail, 'retry_delay'));
      if (delay !== undefined) return delay;
    }
  }
  return undefined;
}

function durationMs(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const seconds = /^(\d+(?:\.\d{1,9})?)s$/.exec(value)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }
  // Protocol Buffers JSON writes 64-bit integers as strings.
  const seconds = statedNumber(String(get(value, 'seconds')));
  const nanos = statedNumber(String(get(value, 'nanos')));
  if (seconds === undefined && nanos === undefined) return undefined;
  return (seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000;
}

function get(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

/**
 * The waiting time of `RateLimit` in milliseconds (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the limits
 * that are used up (`r=0`), whatever they count. A limit without `t` takes the window `w` of its `RateLimit-Policy`.
 */
function rateLimitMs(headers: AnswerHeaders): number | undefined {
  const waits = policyLimits(headers)
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetMs, windowMs }) => resetMs ?? windowMs)
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * The waiting time of `RateLimit-Reset` (older drafts) or `X-RateLimit-Reset` (no standard) in milliseconds. They say
 * nothing when the limit is not used up.
 *
 * @param serverNow the server's time in milliseconds since 1970
 */
function rateLimitResetMs(headers: AnswerHeaders, serverNow: number): number | undefined {
  const usedUp = counterLimits(headers, serverNow).find(
    ({ remaining, resetMs }) => resetMs !== undefined && (remaining ?? 0) === 0,
  );
  return usedUp?.resetMs;
}
