import { z } from 'zod';

export const ratePolicySchema = z.object({
  /** The rate as the user wrote it: `auto`, `auto..50/s`, `50/s`. */
  text: z.string(),
  /** Whether to search for the API's own limit. */
  auto: z.boolean().default(false),
  perSecond: z.number().positive().exactOptional(),
  /** When a user set the rate of a run in progress: this also ends a rest that the API asked for. */
  setAt: z.string().exactOptional(),
});

export type RatePolicy = z.infer<typeof ratePolicySchema>;

export interface CommonPolicy {
  readonly auto: boolean;
  readonly perSecond?: number | undefined;
  /** The run with the strictest bound, if several runs share the API. */
  readonly boundBy?: string | undefined;
}

/** The limits of the runs by their ids; undefined: as fast as possible. */
export type RunPolicies = ReadonlyMap<string, RatePolicy | undefined>;

/** What all runs allow together: the strictest bound. The API's own limit is searched for if any policy asks for it. */
export function commonPolicy(policies: RunPolicies): CommonPolicy {
  let strictest: { readonly run: string; readonly perSecond: number } | undefined;
  for (const [run, policy] of policies) {
    const { perSecond } = policy ?? {};
    if (perSecond !== undefined && perSecond < (strictest?.perSecond ?? Number.POSITIVE_INFINITY))
      strictest = { run, perSecond };
  }
  return {
    auto: [...policies.values()].some((policy) => policy?.auto === true),
    perSecond: strictest?.perSecond,
    boundBy: policies.size > 1 ? strictest?.run : undefined,
  };
}
