import { z } from 'zod';

/** How fast an API may be called, as a user wants it. */
export const ratePolicySchema = z.object({
  /** As it was written: `auto`, `auto..50/s`, `50/s`. */
  text: z.string(),
  /** Whether the API's own limit is looked for. */
  auto: z.boolean().default(false),
  /** The most calls per second. */
  perSecond: z.number().positive().exactOptional(),
});

export type RatePolicy = z.infer<typeof ratePolicySchema>;

/** What several policies for one API allow together. */
export interface CommonPolicy {
  readonly auto: boolean;
  readonly perSecond?: number | undefined;
}

/** The strictest of all bounds; the API's own limit is looked for as soon as one of them wants that. */
export function commonPolicy(policies: readonly (RatePolicy | undefined)[]): CommonPolicy {
  const bounds = policies.flatMap((policy) => (policy?.perSecond === undefined ? [] : [policy.perSecond]));
  return {
    auto: policies.some((policy) => policy?.auto === true),
    ...(bounds.length > 0 && { perSecond: Math.min(...bounds) }),
  };
}

/** To two decimals: what people and programs read of a rate. */
export function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
