import { type AnswerHeaders, type ListItem, structuredList } from '../headers.ts';
import { type LimitReading, limitReading, statedNumber } from './stated-limit.ts';

/**
 * The limits of `RateLimit`, each with quota, window and unit of the `RateLimit-Policy` of the same name, then the
 * policies without a limit (draft-ietf-httpapi-ratelimit-headers-10). Times are in seconds there, in milliseconds here.
 *
 *     RateLimit-Policy: "burst";q=100;w=60, "uploads";q=65535;qu="content-bytes";w=10
 *     RateLimit: "burst";r=0;t=30
 */
export function policyLimits(headers: AnswerHeaders): readonly LimitReading[] {
  const policies = structuredList(headers, 'ratelimit-policy').filter(isNamed);
  const limits = structuredList(headers, 'ratelimit').filter(isNamed);
  const alone = policies.filter((policy) => !limits.some((limit) => isSame(policy, limit)));
  return [
    ...limits.map((limit) =>
      reading(
        limit,
        policies.find((policy) => isSame(policy, limit)),
      ),
    ),
    ...alone.map((policy) => reading(undefined, policy)),
  ];
}

function isNamed({ kind }: ListItem): boolean {
  return kind === 'name';
}

/** Servers that send partition keys do not always send them with both. */
function isSame(policy: ListItem, limit: ListItem): boolean {
  const [one, other] = [policy.parameters.get('pk'), limit.parameters.get('pk')];
  return policy.value === limit.value && (one === undefined || other === undefined || one === other);
}

function reading(limit: ListItem | undefined, policy: ListItem | undefined): LimitReading {
  const number = (item: ListItem | undefined, key: string) => statedNumber(item?.parameters.get(key));
  const seconds = number(limit, 't');
  return limitReading({
    name: nameOf(limit ?? policy),
    unit: limit?.parameters.get('qu') ?? policy?.parameters.get('qu') ?? 'requests',
    quota: number(policy, 'q'),
    windowSeconds: number(policy, 'w'),
    remaining: number(limit, 'r'),
    resetMs: seconds === undefined ? undefined : seconds * 1000,
  });
}

/** A policy has a count of its own for each partition key. */
function nameOf(item: ListItem | undefined): string {
  const partition = item?.parameters.get('pk');
  return `${item?.value ?? ''}${partition === undefined ? '' : `;pk=${partition}`}`;
}
