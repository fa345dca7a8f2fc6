import type { AnswerHeaders } from '../headers.ts';

/** Fields that tell of one limit together, by their lower-case names. */
export interface CounterFamily {
  readonly name: string;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
  /** Field of the policies, where the family has one. */
  readonly policy: string | undefined;
  /** The window that the names tell, in seconds. */
  readonly windowSeconds: number | undefined;
}

/** Whether an answer has any field of the family. */
export function hasFamily(headers: AnswerHeaders, family: CounterFamily): boolean {
  return (
    headers[family.limit] !== undefined ||
    headers[family.remaining] !== undefined ||
    headers[family.reset] !== undefined ||
    (family.policy !== undefined && headers[family.policy] !== undefined)
  );
}

const windows: readonly (readonly [suffix: string, seconds: number | undefined])[] = [
  ['', undefined],
  ['-second', 1],
  ['-minute', 60],
  ['-hour', 3600],
  ['-day', 86_400],
];

/**
 * The known families, the first one to be believed first: `RateLimit-…` (up to draft-ietf-httpapi-ratelimit-headers-06),
 * `X-RateLimit-…` and `X-Rate-Limit-…` (no standard), then the same with the window at the end (Kong:
 * `X-RateLimit-Limit-Minute`).
 */
export const counterFamilies: readonly CounterFamily[] = windows.flatMap(([suffix, windowSeconds]) =>
  ['ratelimit', 'x-ratelimit', 'x-rate-limit'].map((prefix) => ({
    name: `${prefix}${suffix}`,
    limit: `${prefix}-limit${suffix}`,
    remaining: `${prefix}-remaining${suffix}`,
    reset: `${prefix}-reset${suffix}`,
    policy: prefix === 'ratelimit' && suffix === '' ? 'ratelimit-policy' : undefined,
    windowSeconds,
  })),
);
