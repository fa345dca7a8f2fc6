import {
  type AnswerHeaders,
  firstReadable,
  headerValues,
  type ListItem,
  structuredDictionary,
  structuredList,
} from './headers.ts';
import { type AskedWait, type IgnoredWaits, WaitReader } from './wait-reader.ts';

/** A limit as an answer states it, without malformed parts. */
export interface StatedLimit {
  /** The name of the limit: the policy (`burst`, `burst;pk=:cHM=:`) or the family of the fields (`x-ratelimit-minute`). */
  readonly name: string;
  /** The number of calls in each window, or at the same time, from 1 to `maxCalls`. */
  readonly quota?: number;
  /** The length of the window, up to `maxWindowMs`. */
  readonly windowMs?: number;
  /** Calls still permitted before the reset, from 0 to `maxCalls`. */
  readonly remaining?: number;
  /** The time from now until more calls are permitted, from 0 to `maxWaitMs`. */
  readonly resetMs?: number;
  /** The header that states a reset in more than a minute: `RateLimit-Reset: 7200`. */
  readonly resetBy?: string;
  /** What the limit counts: a quota unit of draft-ietf-httpapi-ratelimit-headers-11. */
  readonly unit: LimitUnit;
}

/** What a limit counts: calls in a window, or calls at the same time. */
export type LimitUnit = 'requests' | 'concurrent-requests';

export type LimitReading = Omit<StatedLimit, 'unit'> & { readonly unit: string };

export const maxCalls = 1e9;

/** The longest window of a limit: 366 days. */
export const maxWindowMs = 366 * 86_400_000;

export const noLimits: readonly StatedLimit[] = [];

/**
 * The limits on calls, of `RateLimit` and `RateLimit-Policy`, then of the fields with `limit`, `remaining` and `reset` of every family,
 * then of fields that only say what remains.
 */
export function statedLimits(
  headers: AnswerHeaders,
  now: number,
  ignored?: IgnoredWaits,
): readonly StatedLimit[] {
  if (!mentionsLimits(headers)) return noLimits;
  const waits = new WaitReader(headers, now, ignored);
  const readings = [
    ...policyLimits(headers, waits),
    ...counterLimits(headers, waits),
    ...otherLimits(headers),
  ];
  const limits = readings.filter(isOnCalls);
  return limits.length === 0 ? noLimits : limits;
}

/** Whether any header is about limits. Runs for every answer: it must not allocate memory. */
function mentionsLimits(headers: AnswerHeaders): boolean {
  for (const name in headers) {
    if (name.startsWith('ratelimit') || name.startsWith('x-rate') || name.startsWith('x-ms-rate'))
      return true;
    if (name.startsWith('x-amzn-rate')) return true;
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
 * (draft-ietf-httpapi-ratelimit-headers-11).
 *
 * ```
 * RateLimit-Policy: "burst";q=100;w=60, "uploads";q=65535;qu="content-bytes";w=10
 * RateLimit: "burst";r=0;t=30
 * ```
 */
export function policyLimits(headers: AnswerHeaders, waits: WaitReader): readonly LimitReading[] {
  const named = (field: string) => structuredList(headers, field).filter(({ kind }) => kind === 'name');
  const [policies, limits] = [named('ratelimit-policy'), named('ratelimit')];
  const policyOf = (limit: ListItem) => policies.find((policy) => isLimitOfPolicy(policy, limit));
  const alone = policies.filter((policy) => !limits.some((limit) => isLimitOfPolicy(policy, limit)));
  return [
    ...limits.map((limit) => policyReading(waits, limit, limit, policyOf(limit))),
    ...alone.map((policy) => policyReading(waits, policy, undefined, policy)),
  ];
}

/** Whether a policy and a limit belong together. Some servers put the partition key into only one of the two fields. */
function isLimitOfPolicy(policy: ListItem, limit: ListItem): boolean {
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
    reset: time === undefined ? undefined : waits.read('RateLimit', time, { shown: `t=${time}` }),
  });
}

/**
 * The limits of `…-Limit`, `…-Remaining` and `…-Reset` of every family, and of draft-ietf-httpapi-ratelimit-headers-07, which has them in
 * one field (express-rate-limit's default). Up to that draft, policies may follow the quota, or have a field: the policy with the same
 * quota gives its window, the others are limits too.
 *
 * ```
 * RateLimit-Limit: 100, 100;w=60, 5000;w=86400
 * RateLimit: limit=100, remaining=99, reset=15
 * RateLimit-Policy: 100;w=15
 * ```
 */
export function counterLimits(headers: AnswerHeaders, waits: WaitReader): readonly LimitReading[] {
  return [
    ...oneFieldLimits(headers, waits),
    ...families
      .filter(({ fields }) => Object.values(fields).some((field) => headers[field] !== undefined))
      .flatMap((family) => familyLimits(headers, family, waits)),
  ];
}

function oneFieldLimits(headers: AnswerHeaders, waits: WaitReader): readonly LimitReading[] {
  const { limit, remaining, reset } = structuredDictionary(headers, 'ratelimit');
  if ((limit ?? remaining ?? reset) === undefined) return [];
  return limitsOfCounters({
    name: 'ratelimit',
    quotas: [{ quota: statedNumber(limit), windowSeconds: undefined }],
    policies: quotas(headers, 'ratelimit-policy'),
    remaining: statedNumber(remaining),
    reset: reset === undefined ? undefined : waits.read('RateLimit', reset, { shown: `reset=${reset}` }),
  });
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
 * Families of limit headers, most reliable first: `RateLimit-…` (up to draft-ietf-httpapi-ratelimit-headers-06), `X-RateLimit-…` and
 * `X-Rate-Limit-…` (no standard), then with the window at the end (Kong: `X-RateLimit-Limit-Minute`) or what is counted (Azure OpenAI).
 */
const families = Object.entries({
  '': undefined,
  '-Requests': undefined,
  '-Second': 1,
  '-Minute': 60,
  '-Hour': 3600,
  '-Day': 86_400,
  '-Month': 30 * 86_400,
  '-Year': 365 * 86_400,
}).flatMap(([suffix, windowSeconds]) =>
  ['RateLimit', 'X-RateLimit', 'X-Rate-Limit'].map((prefix) => familyOf(prefix, suffix, windowSeconds)),
);

function familyLimits(headers: AnswerHeaders, family: Family, waits: WaitReader): readonly LimitReading[] {
  const { name, windowSeconds, fields, policyField, resetHeader } = family;
  const limits = quotas(headers, fields.limit);
  const hasPolicies = limits.some(isPolicy) || policyField === undefined;
  return limitsOfCounters({
    name,
    windowSeconds,
    quotas: limits,
    policies: hasPolicies ? limits : quotas(headers, policyField),
    remaining: statedNumber(headerValues(headers, fields.remaining)[0]?.trim()),
    reset: firstReadable(headers, fields.reset, (value) => waits.read(resetHeader, value)),
  });
}

interface Counters extends Pick<Statements, 'name' | 'remaining' | 'reset' | 'windowSeconds'> {
  readonly quotas: readonly Quota[];
  /** The policies of the limit. Quotas without a window among them do not count. */
  readonly policies: readonly Quota[];
}

function limitsOfCounters({ quotas, policies, ...counters }: Counters): readonly LimitReading[] {
  const { name, remaining, reset } = counters;
  const windows = policies.filter(isPolicy);
  const current = quotas[0] ?? (windows.length === 1 ? windows[0] : undefined);
  const currentPolicy =
    windows.find((policy) => policy === current) ?? windows.find(({ quota }) => quota === current?.quota);
  const otherPolicies = windows.filter((policy) => policy !== currentPolicy);
  const windowSeconds = counters.windowSeconds ?? currentPolicy?.windowSeconds;
  // Which policy is current may change with every answer, so the names of several include their windows.
  const nameWith = (seconds: number | undefined): string =>
    otherPolicies.length > 0 && seconds !== undefined ? `${name};w=${seconds}` : name;
  return [
    limitReading({ name: nameWith(windowSeconds), quota: current?.quota, windowSeconds, remaining, reset }),
    ...otherPolicies.map((other) => limitReading({ name: nameWith(other.windowSeconds), ...other })),
  ];
}

type Quota = Pick<Statements, 'quota' | 'windowSeconds'>;

function isPolicy({ windowSeconds }: Quota): boolean {
  return windowSeconds !== undefined;
}

/** The quotas in a field. The first drafts spelled the parameter out: `window`. */
function quotas(headers: AnswerHeaders, field: string): readonly Quota[] {
  return structuredList(headers, field)
    .filter(({ kind }) => kind === 'integer')
    .map(({ value, parameters }) => ({
      quota: statedNumber(value),
      windowSeconds: statedNumber(parameters.get('w') ?? parameters.get('window')),
    }));
}

/**
 * The limits of dialects that state one number:
 *
 * ```
 * x-amzn-RateLimit-Limit: 0.5                                            (AWS: calls per second)
 * x-ms-ratelimit-remaining-subscription-writes: 1199                     (Azure: no time)
 * x-ms-ratelimit-remaining-resource: Microsoft.Compute/PutVM3Min;197     (Azure: a list)
 * ```
 */
function otherLimits(headers: AnswerHeaders): readonly LimitReading[] {
  return Object.keys(headers).flatMap((name) => {
    const [text = ''] = headerValues(headers, name);
    if (name === 'x-amzn-ratelimit-limit') return [limitReading({ name, ...perSecond(text.trim()) })];
    if (!name.startsWith(remainingPrefix)) return [];
    return text.split(',', maxResources).flatMap((item) => {
      const [, resource, remaining] = /^\s*(?:([\w./-]{1,100});)?(\d{1,15})\s*$/.exec(item) ?? [];
      const ofResource = resource === undefined ? name : `${name};${resource}`;
      return [limitReading({ name: ofResource, remaining: statedNumber(remaining) })];
    });
  });
}

const remainingPrefix = 'x-ms-ratelimit-remaining-';
const maxResources = 20;

/** A rate in whole calls: `2.5` are 25 calls in 10 s, `0.0167` is one call in 59.88 s. */
function perSecond(text: string): Pick<Statements, 'quota' | 'windowSeconds'> {
  const [, decimals] = /^\d{1,9}(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  const rate = Number(text);
  if (!(rate > 0) || (decimals === undefined && !/^\d{1,9}$/.test(text))) return {};
  if (rate < 1) return { quota: 1, windowSeconds: Math.ceil(1_000 / rate) / 1_000 };
  const windowSeconds = 10 ** (decimals?.length ?? 0);
  return { quota: Math.round(rate * windowSeconds), windowSeconds };
}

/** Reads a whole number in decimal digits. Undefined for any other text, such as a negative number. */
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

/** A limit without absurd quotas and windows, and with at most `maxCalls` remaining calls. */
function limitReading(statements: Statements): LimitReading {
  const { name, unit = 'requests', quota = 0, windowSeconds = 0, remaining, reset } = statements;
  const windowMs = Math.round(windowSeconds * 1000);
  return {
    name,
    ...(quota >= 1 && quota <= maxCalls && { quota }),
    ...(windowMs > 0 && windowMs <= maxWindowMs && { windowMs }),
    ...(remaining !== undefined && { remaining: Math.min(remaining, maxCalls) }),
    ...(reset !== undefined && { resetMs: reset.ms }),
    ...(reset?.askedBy !== undefined && { resetBy: reset.askedBy }),
    unit,
  };
}
