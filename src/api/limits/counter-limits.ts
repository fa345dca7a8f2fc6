import { type AnswerHeaders, headerValues, structuredList } from '../headers.ts';
import { type LimitReading, limitReading, statedNumber } from './stated-limit.ts';

/**
 * The limits that are told in one field for each number: `…-Limit`, `…-Remaining` and `…-Reset` of every family. A reset
 * is in seconds, or a time in seconds or milliseconds since 1970. Up to draft-ietf-httpapi-ratelimit-headers-06 the
 * quota may be followed by policies, of which the one with the same quota tells its window; the others are limits too.
 *
 *     RateLimit-Limit: 100, 100;w=60, 5000;w=86400
 *
 * @param serverNow the server's time in milliseconds since 1970
 */
export function counterLimits(headers: AnswerHeaders, serverNow: number): readonly LimitReading[] {
  const readings: LimitReading[] = [];
  for (const family of counterFamilies) {
    if (hasFamily(headers, family)) readings.push(...familyLimits(headers, family, serverNow));
  }
  return readings;
}

function familyLimits(headers: AnswerHeaders, family: CounterFamily, serverNow: number): LimitReading[] {
  const { name } = family;
  const limits = quotas(headers, family.limit);
  const stated =
    limits.some(isPolicy) || family.policy === undefined ? limits : quotas(headers, family.policy);
  const policies = stated.filter(isPolicy);
  const current = limits[0] ?? (policies.length === 1 ? policies[0] : undefined);
  const own =
    policies.find((policy) => policy === current) ?? policies.find(({ quota }) => quota === current?.quota);
  const others = policies.filter((policy) => policy !== own);
  const windowSeconds = family.windowSeconds ?? own?.windowSeconds;
  // Which of several policies is the current one may change with every answer.
  const nameWith = (seconds: number | undefined): string =>
    others.length > 0 && seconds !== undefined ? `${name};w=${seconds}` : name;
  return [
    limitReading({
      name: nameWith(windowSeconds),
      quota: current?.quota,
      windowSeconds,
      remaining: numberIn(headers, family.remaining),
      resetMs: untilReset(numberIn(headers, family.reset), serverNow),
    }),
    ...others.map((other) => limitReading({ name: nameWith(other.windowSeconds), ...other })),
  ];
}

interface Quota {
  readonly quota: number | undefined;
  readonly windowSeconds: number | undefined;
}

function isPolicy({ windowSeconds }: Quota): boolean {
  return windowSeconds !== undefined;
}

/** The first drafts spelled the parameter out: `window`. */
function quotas(headers: AnswerHeaders, name: string): readonly Quota[] {
  return structuredList(headers, name)
    .filter(({ kind }) => kind === 'integer')
    .map(({ value, parameters }) => ({
      quota: statedNumber(value),
      windowSeconds: statedNumber(parameters.get('w') ?? parameters.get('window')),
    }));
}

function untilReset(value: number | undefined, serverNow: number): number | undefined {
  if (value === undefined) return undefined;
  if (value < 1e9) return value * 1000;
  return (value < 1e12 ? value * 1000 : value) - serverNow;
}

function numberIn(headers: AnswerHeaders, name: string): number | undefined {
  return statedNumber(headerValues(headers, name)[0]?.trim());
}

/** Fields that tell of one limit together, by their lower-case names. */
interface CounterFamily {
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
function hasFamily(headers: AnswerHeaders, family: CounterFamily): boolean {
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
const counterFamilies: readonly CounterFamily[] = windows.flatMap(([suffix, windowSeconds]) =>
  ['ratelimit', 'x-ratelimit', 'x-rate-limit'].map((prefix) => ({
    name: `${prefix}${suffix}`,
    limit: `${prefix}-limit${suffix}`,
    remaining: `${prefix}-remaining${suffix}`,
    reset: `${prefix}-reset${suffix}`,
    policy: prefix === 'ratelimit' && suffix === '' ? 'ratelimit-policy' : undefined,
    windowSeconds,
  })),
);
