import { isJsonObject } from '../../base/text/json.ts';
import type { ErrorDetail } from './error-details.ts';
import { type AnswerHeaders, firstReadable } from './headers.ts';
import { counterLimits, type LimitReading, policyLimits, statedNumber } from './limits.ts';
import { type AskedWait, type IgnoredWaits, WaitReader } from './wait-reader.ts';

/**
 * The headers that ask for a wait, the exact ones first. Azure OpenAI, Azure Cosmos DB and AWS send milliseconds, and some send
 * `Retry-After` in whole seconds, too.
 */
const waitHeaders = [
  { header: 'Retry-After-Ms', unit: 'milliseconds' },
  { header: 'X-Ms-Retry-After-Ms', unit: 'milliseconds' },
  { header: 'X-Amz-Retry-After', unit: 'milliseconds' },
  { header: 'Retry-After' },
] as const;

/** How long to wait; undefined if the answer does not ask to wait. The first accepted field counts. Parameters: see `WaitReader`. */
export function waitingTime(
  headers: AnswerHeaders,
  details: readonly ErrorDetail[],
  now: number,
  ignored?: IgnoredWaits,
): AskedWait | undefined {
  const waits = new WaitReader(headers, now, ignored);
  return askedByHeader(headers, waits) ?? retryInfo(details, waits) ?? waitOfUsedUpLimit(headers, waits);
}

/** Whether a refusal says when to call again, whatever its status: GitHub refuses with 403. */
export function isThrottled(headers: AnswerHeaders, now: number): boolean {
  const waits = new WaitReader(headers, now);
  const isUsedUp = ({ remaining, resetMs }: LimitReading) => remaining === 0 && resetMs !== undefined;
  return (
    askedByHeader(headers, waits) !== undefined ||
    policyLimits(headers, waits).some(isUsedUp) ||
    counterLimits(headers, waits).some(isUsedUp)
  );
}

function askedByHeader(headers: AnswerHeaders, waits: WaitReader): AskedWait | undefined {
  for (const { header, ...form } of waitHeaders) {
    const wait = firstReadable(headers, header.toLowerCase(), (value) => waits.read(header, value, form));
    if (wait !== undefined) return wait;
  }
  return undefined;
}

function retryInfo(details: readonly ErrorDetail[], waits: WaitReader): AskedWait | undefined {
  for (const { type = 'RetryInfo', fields } of details) {
    if (type !== 'RetryInfo') continue;
    const delay = durationOf(fields['retryDelay'] ?? fields['retry_delay']);
    const wait = delay === undefined ? undefined : waits.read('RetryInfo', delay);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** A duration of Protocol Buffers: `"1.5s"`, or `{"seconds":1,"nanos":500000000}` as some servers write it. */
function durationOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  // Seconds may be a string, because Protocol Buffers JSON writes 64-bit integers as strings.
  const seconds = statedNumber(String(memberOf(value, 'seconds')));
  const nanos = statedNumber(String(memberOf(value, 'nanos')));
  if (seconds === undefined && nanos === undefined) return undefined;
  return `${nanos ? ((seconds ?? 0) + nanos / 1e9).toFixed(9) : (seconds ?? 0)}s`;
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

function waitOfUsedUpLimit(headers: AnswerHeaders, waits: WaitReader): AskedWait | undefined {
  return rateLimit(headers, waits) ?? rateLimitReset(headers, waits);
}

/**
 * The wait of `RateLimit` (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the limits that are used up (`r=0`); without `t`, the
 * window `w` of the `RateLimit-Policy`.
 */
function rateLimit(headers: AnswerHeaders, waits: WaitReader): AskedWait | undefined {
  return policyLimits(headers, waits)
    .filter(({ remaining }) => remaining === 0)
    .map((limit) => resetOf(limit) ?? windowOf(limit, waits))
    .filter((wait) => wait !== undefined)
    .toSorted((one, other) => other.ms - one.ms)[0];
}

function resetOf({ resetMs, resetBy }: LimitReading): AskedWait | undefined {
  return resetMs === undefined ? undefined : { ms: resetMs, askedBy: resetBy };
}

function windowOf({ windowMs }: LimitReading, waits: WaitReader): AskedWait | undefined {
  if (windowMs === undefined) return undefined;
  const seconds = String(windowMs / 1_000);
  return waits.read('RateLimit-Policy', seconds, { shown: `w=${seconds}` });
}

/** The wait of `reset` in older drafts, or of `X-RateLimit-Reset` (no standard). Counts only when the limit is used up. */
function rateLimitReset(headers: AnswerHeaders, waits: WaitReader): AskedWait | undefined {
  return counterLimits(headers, waits)
    .filter(({ remaining = 0 }) => remaining === 0)
    .map(resetOf)
    .find((wait) => wait !== undefined);
}

const maxBackoffMs = 60_000;
const unknownWaitMs = 1_000;
const maxUnknownWaitMs = 30_000;
/** The shortest wait. Without it, an API that asks for a wait of 0 would be called continuously. */
const leastWaitMs = 100;

/**
 * The pause after a transient failure; it doubles, up to a minute.
 *
 * @param failures so far, from 1
 * @param random from 0 to 1
 */
export function backoffAfter(failures: number, backoffMs: number, random: number): number {
  return Math.ceil(random * Math.min(backoffMs * 2 ** (failures - 1), maxBackoffMs));
}

/** The wait when the API asks to slow down without a time; it doubles with each refusal, up to 30 s. */
export function unstatedWaitMs(refusals: number): number {
  return Math.min(unknownWaitMs * 2 ** (refusals - 1), maxUnknownWaitMs);
}

export function statedWaitMs(ms: number): number {
  return Math.max(leastWaitMs, ms);
}
