import { isJsonObject } from '../text/json.ts';
import { type AnswerHeaders, firstReadable, httpDateMs, serverTime } from './headers.ts';
import { counterLimits, policyLimits, statedNumber } from './limits.ts';

/**
 * The longest accepted waiting time, in milliseconds: 24 hours, because an API with a daily quota may ask to wait until
 * midnight. Longer times are reduced to it.
 */
export const maxWaitMs = 86_400_000;

/**
 * How long an answer asks to wait, in whole milliseconds from 0 to `maxWaitMs`; undefined when it does not say. The first of
 * these that is present and well-formed counts: `Retry-After`, `google.rpc.RetryInfo`, `RateLimit`, `RateLimit-Reset`,
 * `X-RateLimit-Reset`. Times of day are taken relative to the answer's own `Date`, so that a wrong clock on this machine does
 * no harm.
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
 * `Retry-After` (RFC 9110, section 10.2.3): seconds, even with decimals as some servers send them, or an HTTP date. A date in
 * the past means 0.
 */
function retryAfterMs(value: string, serverNow: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = httpDateMs(text);
  return date === undefined ? undefined : Math.max(0, date - serverNow);
}

/** A `google.rpc.RetryInfo` in the details of an error body (`google/rpc/error_details.proto`). */
function retryInfoMs(body: unknown): number | undefined {
  const details = [member(body, 'details'), member(member(body, 'error'), 'details')];
  for (const detail of details.filter(Array.isArray).flat() as readonly unknown[]) {
    const type = member(detail, '@type');
    if (typeof type === 'string' && !type.endsWith('google.rpc.RetryInfo')) continue;
    const delay = durationMs(member(detail, 'retryDelay') ?? member(detail, 'retry_delay'));
    if (delay !== undefined) return delay;
  }
  return undefined;
}

/** A Protocol Buffers duration: `"30s"`, `"1.5s"`, or `{"seconds":1,"nanos":500000000}` as some servers write it. */
function durationMs(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const seconds = /^(\d+(?:\.\d{1,9})?)s$/.exec(value)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }
  // Protocol Buffers JSON writes 64-bit integers as strings.
  const seconds = statedNumber(String(member(value, 'seconds')));
  const nanos = statedNumber(String(member(value, 'nanos')));
  if (seconds === undefined && nanos === undefined) return undefined;
  return (seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000;
}

function member(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

/**
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the limits that are used up (`r=0`), whatever they
 * count. For a limit without `t`, the window `w` of its `RateLimit-Policy` counts.
 */
function rateLimitMs(headers: AnswerHeaders): number | undefined {
  const waits = policyLimits(headers)
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetMs, windowMs }) => resetMs ?? windowMs)
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * `RateLimit-Reset` (older drafts) or `X-RateLimit-Reset` (no standard). They say nothing when the limit is not used up.
 */
function rateLimitResetMs(headers: AnswerHeaders, serverNow: number): number | undefined {
  return counterLimits(headers, serverNow).find(
    ({ remaining = 0, resetMs }) => resetMs !== undefined && remaining === 0,
  )?.resetMs;
}
