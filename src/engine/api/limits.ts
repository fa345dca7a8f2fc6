import { type AnswerHeaders, firstReadable, headerValues, type ListItem, structuredList } from './headers.ts';
import { type AskedWait, type IgnoredWaits, WaitReader } from './wait-reader.ts';

/** A limit as an answer states it, without malformed parts. */
export interface StatedLimit {
  /** The policy (`burst`, `burst;pk=:cHM=:`) or the family of the fields (`x-ratelimit-minute`). */
  readonly name: string;
  /** Calls in each window, or at the same time, from 1 to `maxCalls`. */
  readonly quota?: number;
  /** Up to `maxWindowMs`. */
  readonly windowMs?: number;
  /** Calls still permitted before the reset, from 0 to `maxCalls`. */
  readonly remaining?: number;
  /** Until more calls are permitted, from now, from 0 to `maxWaitMs`. */
  readonly resetMs?: number;
  /** What states more than a minute: `RateLimit-Reset: 7200`. */
  readonly resetBy?: string;
  /** A quota unit of draft-ietf-httpapi-ratelimit-headers-10. */
  readonly unit: LimitUnit;
}

/** Calls in a window, or at the same time. */
export type LimitUnit = 'requests' | 'concurrent-requests';

export type LimitReading = Omit<StatedLimit, 'unit'> & { readonly unit: string };

export const maxCalls = 1e9;

/** 366 days. */
export const maxWindowMs = 366 * 86_400_000;

export const noLimits: readonly StatedLimit[] = [];

/** The limits on calls of `RateLimit` and `RateLimit-Policy`, then of `RateLimit-…`, `X-RateLimit-…` and `X-Rate-Limit-…`. */
export function statedLimits(
  headers: AnswerHeaders,
  now: number,
  ignored?: IgnoredWaits,
): readonly StatedLimit[] {
  if (!mentionsLimits(headers)) return noLimits;
  const waits = new WaitReader(headers, now, ignored);
  const readings = [...policyLimits(headers, waits), ...counterLimits(headers, waits)];
  const limits = readings.filter(isOnCalls);
  return limits.length === 0 ? noLimits : limits;
}

/** Runs for every answer: it must not allocate memory. */
function mentionsLimits(headers: AnswerHeaders): boolean {
  for (const name in headers) {
    if (name.startsWith('ratelimit') || name.startsWith('x-rate')) return true;
  }
  return false;
}

function isOnCalls(limit: LimitReading): limit is StatedLimit {
  const { unit, quota, remaining, resetMs } = limit;
  const isOfCalls = unit === 'requests' || unit === 'concurrent-requests';
  return isOfCalls && (quota ?? remaining ?? resetMs) !== undefined;
}

/**
 * The limits of `RateLimit`, each with quota, window and unit of the `RateLimit-Policy` of the same name, then the policies without a limit
 * (draft-ietf-httpapi-ratelimit-headers-10).
 *
 * ```
 * RateLimit-Policy: "burst";q=100;w=60, "uploads";q=65535;qu="content-bytes";w=10
 * RateLimit: "burst";r=0;t=30
 * ```
 */
export function policyLimits(headers: AnswerHeaders, waits: WaitReader): readonly LimitReading[] {
  const named = (field: string) => structuredList(headers, field).filter(({ kind }) => kind === 'name');
  const [policies, limits] = [named('ratelimit-policy'), named('ratelimit')];
  const policyOf = (limit: ListItem) => policies.find((policy) => isSame(policy, limit));
  const alone = policies.filter((policy) => !limits.some((limit) => isSame(policy, limit)));
  return [
    ...limits.map((limit) => policyReading(waits, limit, limit, policyOf(limit))),
    ...alone.map((policy) => policyReading(waits, policy, undefined, policy)),
  ];
}

/** Some servers put the partition key into only one of the two fields. */
function isSame(policy: ListItem, limit: ListItem): boolean {
  const [one, other] = [policy.parameters.get('pk'), limit.parameters.get('pk')];
  return policy.value === limit.value && (one === undefined || other === undefined || one === other);
}

function policyReading(
  waits: WaitReader,
  { value, parameters }: ListItem,
  limit: ListItem | undefined,
  policy: ListItem | undefined,
): LimitReading {
  // Each partition key of a policy has its own count.
  const partition = parameters.get('pk');
  const time = limit?.parameters.get('t');
  return limitReading({
    name: partition === undefined ? value : `${value};pk=${partition}`,
    unit: limit?.parameters.get('qu') ?? policy?.parameters.get('qu'),
    quota: statedNumber(policy?.parameters.get('q')),
    windowSeconds: statedNumber(policy?.parameters.get('w')),
    remaining: statedNumber(limit?.parameters.get('r')),
    reset: time === undefined ? undefined : waits.seconds('RateLimit', time, `t=${time}`),
  });
}

/**
 * The limits of `…-Limit`, `…-Remaining` and `…-Reset` of every family. Up to draft-ietf-httpapi-ratelimit-headers-06, policies may follow
 * the quota: the policy with the same quota gives its window, the others are limits too.
 *
 * ```
 * RateLimit-Limit: 100, 100;w=60, 5000;w=86400
 * ```
 */
export function counterLimits(headers: AnswerHeaders, waits: WaitReader): readonly LimitReading[] {
  return families
    .filter(({ fields }) => Object.values(fields).some((field) => headers[field] !== undefined))
    .flatMap((family) => familyLimits(headers, family, waits));
}

type Family = ReturnType<typeof familyOf>;

function familyOf(prefix: string, suffix: string, windowSeconds: number | undefined) {
  const field = (part: string): string => `${prefix}-${part}${suffix}`.toLowerCase();
  const name = `${prefix}${suffix}`.toLowerCase();
  return {
    name,
    windowSeconds,
    fields: { limit: field('limit'), remaining: field('remaining'), reset: field('reset') },
    resetHeader: `${prefix}-Reset${suffix}`,
    policyField: name === 'ratelimit' ? 'ratelimit-policy' : undefined,
  };
}

/**
 * Most reliable first: `RateLimit-…` (up to draft-ietf-httpapi-ratelimit-headers-06), `X-RateLimit-…` and `X-Rate-Limit-…` (no standard),
 * then with the window at the end (Kong: `X-RateLimit-Limit-Minute`).
 */
const families = Object.entries({
  '': undefined,
  '-Second': 1,
  '-Minute': 60,
  '-Hour': 3600,
  '-Day': 86_400,
}).flatMap(([suffix, windowSeconds]) =>
  ['RateLimit', 'X-RateLimit', 'X-Rate-Limit'].map((prefix) => familyOf(prefix, suffix, windowSeconds)),
);

function familyLimits(headers: AnswerHeaders, family: Family, waits: WaitReader): readonly LimitReading[] {
  const { name, fields, policyField, resetHeader } = family;
  const limits = quotas(headers, fields.limit);
  const stated = limits.some(isPolicy) || policyField === undefined ? limits : quotas(headers, policyField);
  const policies = stated.filter(isPolicy);
  const current = limits[0] ?? (policies.length === 1 ? policies[0] : undefined);
  const currentPolicy =
    policies.find((policy) => policy === current) ?? policies.find(({ quota }) => quota === current?.quota);
  const otherPolicies = policies.filter((policy) => policy !== currentPolicy);
  const windowSeconds = family.windowSeconds ?? currentPolicy?.windowSeconds;
  // Which policy is current may change with every answer, so the names of several include their windows.
  const nameWith = (seconds: number | undefined): string =>
    otherPolicies.length > 0 && seconds !== undefined ? `${name};w=${seconds}` : name;
  return [
    limitReading({
      name: nameWith(windowSeconds),
      quota: current?.quota,
      windowSeconds,
      remaining: numberIn(headers, fields.remaining),
      reset: firstReadable(headers, fields.reset, (value) => waits.seconds(resetHeader, value)),
    }),
    ...otherPolicies.map((other) => limitReading({ name: nameWith(other.windowSeconds), ...other })),
  ];
}

type Quota = Pick<Statements, 'quota' | 'windowSeconds'>;

function isPolicy({ windowSeconds }: Quota): boolean {
  return windowSeconds !== undefined;
}

/** The first drafts spelled the parameter out: `window`. */
function quotas(headers: AnswerHeaders, field: string): readonly Quota[] {
  return structuredList(headers, field)
    .filter(({ kind }) => kind === 'integer')
    .map(({ value, parameters }) => ({
      quota: statedNumber(value),
      windowSeconds: statedNumber(parameters.get('w') ?? parameters.get('window')),
    }));
}

function numberIn(headers: AnswerHeaders, field: string): number | undefined {
  return statedNumber(headerValues(headers, field)[0]?.trim());
}

/** Whole, not negative, in decimal digits. */
export function statedNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

interface Statements {
  readonly name: string;
  readonly unit?: string | undefined;
  readonly quota?: number | undefined;
  readonly windowSeconds?: number | undefined;
  readonly remaining?: number | undefined;
  readonly reset?: AskedWait | undefined;
}

/** Leaves out absurd quotas and windows, and caps remaining calls. */
function limitReading(statements: Statements): LimitReading {
  const { name, unit = 'requests', quota = 0, windowSeconds = 0, remaining, reset } = statements;
  const windowMs = windowSeconds * 1000;
  return {
    name,
    ...(quota >= 1 && quota <= maxCalls && { quota }),
    ...(windowMs > 0 && windowMs <= maxWindowMs && { windowMs }),
    ...(remaining !== undefined && { remaining: Math.min(remaining, maxCalls) }),
    ...(reset !== undefined && { resetMs: reset.ms }),
    ...(reset?.by !== undefined && { resetBy: reset.by }),
    unit,
  };
}
