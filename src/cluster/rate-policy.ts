import { z } from 'zod';

/** How fast an API may be called, as a user wants it. */
export const ratePolicySchema = z.object({
  /** As the user wrote it: `auto`, `auto..50/s`, `50/s`. */
  text: z.string(),
  /** Whether to look for the API's own limit. */
  auto: z.boolean().default(false),
  /** The most calls per second. */
  perSecond: z.number().positive().exactOptional(),
});

export type RatePolicy = z.infer<typeof ratePolicySchema>;

/** What several policies for one API allow together. */
export interface CommonPolicy {
  readonly auto: boolean;
  readonly perSecond?: number | undefined;
  /** The run that wants this bound, where there are several runs. */
  readonly boundBy?: string;
}

/** What each run that calls an API allows, by its id; undefined: as fast as possible. */
export type RunPolicies = ReadonlyMap<string, RatePolicy | undefined>;

/** The strictest of all bounds; the API's own limit is looked for as soon as one of them asks for that. */
export function commonPolicy(policies: RunPolicies): CommonPolicy {
  let strictest: { readonly run: string; readonly perSecond: number } | undefined;
  for (const [run, policy] of policies) {
    const { perSecond } = policy ?? {};
    if (perSecond !== undefined && perSecond < (strictest?.perSecond ?? Number.POSITIVE_INFINITY))
      strictest = { run, perSecond };
  }
  return {
    auto: [...policies.values()].some((policy) => policy?.auto === true),
    ...(strictest !== undefined && { perSecond: strictest.perSecond }),
    ...(strictest !== undefined && policies.size > 1 && { boundBy: strictest.run }),
  };
}

/** To two decimals: the precision in which people and programs read a rate. */
export function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
