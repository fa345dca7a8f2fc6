import { z } from 'zod';
import { attributionSchema } from '../../domain/actor.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { rateGroupNames, runIds } from '../../domain/names.ts';
import { duringOutage, type PaceReport, phases } from '../../domain/pace.ts';
import { noOutcomes, outcomes, priorities, usualPriority } from '../../domain/terms.ts';
import { ratePolicySchema } from './rate-policy.ts';

/** Counts of rows by outcome. Ignores outcomes of other versions. */
export const countsSchema = z
  .partialRecord(z.enum(outcomes), z.number())
  .transform((counts) => ({ ...noOutcomes(), ...counts }));

/** Entries of older versions have no rate group. */
const limitedApiSchema = z.object({
  baseUrl: z.string(),
  rateGroup: nameSchema(rateGroupNames).exactOptional(),
});

const processSchema = z.object({ host: z.string(), pid: z.number() });

export const runEntrySchema = z.object({
  id: nameSchema(runIds),
  /** A random key, which distinguishes runs with the same id. */
  key: z.string(),
  ...limitedApiSchema.shape,
  manifest: z.string(),
  state: z.string(),
  /** Why the run ended, if its state does not say so. */
  because: z.string().exactOptional(),
  waiting: z.string().exactOptional(),
  rows: z.number(),
  /** Rows with a result; absent in entries of older versions, whose counts contain only such rows. */
  done: z.number().exactOptional(),
  counts: countsSchema,
  /** The rows finished per second, over the last seconds. */
  rowsPerSecond: z.number(),
  /** The rate that the user allows. Absent: as fast as possible. */
  rate: ratePolicySchema.exactOptional(),
  /** The priority of the run. Default `normal`. */
  priority: z.enum(priorities).exactOptional(),
  coordinator: processSchema.extend({ version: z.string().exactOptional() }),
  /** Whether the coordinator has finished the run and its report. */
  left: z.literal(true).exactOptional(),
  startedAt: z.string(),
  seenAt: z.string(),
});

const statedLimitSchema = z.object({
  name: z.string(),
  quota: z.number().exactOptional(),
  windowMs: z.number().exactOptional(),
  remaining: z.number().exactOptional(),
  resetMs: z.number().exactOptional(),
  resetBy: z.string().exactOptional(),
  unit: z.enum(['requests', 'concurrent-requests']),
});

/** How the calls of a process ended. Counts since its start; times are ages. */
const trafficReportSchema = z.object({
  accepted: z.number(),
  rejected: z.number(),
  unavailable: z.number().exactOptional(),
  durationMs: z.number(),
  active: z.number(),
  /** How long before the report the latest rejected call was answered. */
  refusedAgoMs: z.number().exactOptional(),
  refusedWith: z.number().exactOptional(),
  waitMs: z.number().exactOptional(),
  /** What asked for the wait: see `AskedWait`. */
  waitBy: z.string().optional(),
  /** Calls in flight among which calls were accepted, since the last report: see `Traffic`. */
  acceptedAmong: z.number().exactOptional(),
  rejectedAmong: z.number().exactOptional(),
  stated: z.array(statedLimitSchema),
});

/** Times are stored as durations and ages, because clocks differ. */
export const paceEntrySchema = z.object({
  rate: z.number().exactOptional(),
  isKept: z.boolean(),
  concurrency: z.number(),
  restMs: z.number(),
  restBy: z.string().optional(),
  restsSinceAgoMs: z.number().exactOptional(),
  limit: z.number().exactOptional(),
  phase: z.enum(phases),
  refuses503: z.boolean(),
  reason: z.string(),
  boundBy: z.string().exactOptional(),
  accepted: z.number(),
  rejected: z.number(),
  runs: z.array(z.string()),
  workers: z.number(),
  seenAt: z.string(),
});

export const workerEntrySchema = z.object({
  id: z.string(),
  ...processSchema.shape,
  version: z.string(),
  ...limitedApiSchema.shape,
  concurrency: z.number(),
  /** Whether the user gave the worker no number: it takes its share of the calls in flight. */
  isAuto: z.literal(true).exactOptional(),
  active: z.number(),
  finished: z.number(),
  /** Why only single test calls are made; absent while the API answers. */
  outage: z
    .object({
      reason: z.string(),
      testMs: z.number(),
      away: z
        .object({ why: z.string(), lastedMs: z.number(), leftMs: z.number().optional() })
        .exactOptional(),
    })
    .optional(),
  traffic: trafficReportSchema.exactOptional(),
  startedAt: z.string(),
  seenAt: z.string(),
});

const controlOrigin = {
  at: z.string(),
  ...attributionSchema.shape,
};

/** Rates and priorities are separate: a paused run with a new rate stays paused. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.enum(['unpause', 'pause', 'cancel']), ...controlOrigin }),
  z.object({
    kind: z.literal('rate'),
    /** The rate that the user allows. Null: as fast as possible. */
    rate: ratePolicySchema.nullable(),
    ...controlOrigin,
  }),
  z.object({ kind: z.literal('priority'), priority: z.enum(priorities), ...controlOrigin }),
]);

export type RunEntry = z.infer<typeof runEntrySchema>;
export type WorkerEntry = z.infer<typeof workerEntrySchema>;
export type TrafficReport = z.infer<typeof trafficReportSchema>;
export interface PublishedPace
  extends PaceReport,
    Pick<z.infer<typeof paceEntrySchema>, 'runs' | 'workers' | 'seenAt'> {}
/** What a user tells a run. Of each kind, the latest control counts. */
export type Control = z.infer<typeof controlSchema>;
export const controlKinds = ['command', 'rate', 'priority'] as const satisfies readonly Control['kind'][];
export type ControlOf<Kind extends Control['kind']> = Extract<Control, { readonly kind: Kind }>;

/** After this time without a new entry, its process is gone or can't reach the datastore. */
export const goneAfterMs = 15_000;
/** How long entries stay: that of a run after its end, that of a worker after its last beat. */
export const forgottenAfterMs = 24 * 60 * 60 * 1_000;

export function isPresent({ seenAt }: { readonly seenAt: string }, withinMs = goneAfterMs): boolean {
  return Date.now() - Date.parse(seenAt) < withinMs;
}

/** An outage is shown if every worker that has calls is in an outage. */
export function paceSeenBy(
  workers: readonly WorkerEntry[],
  pace: PublishedPace | undefined,
): PublishedPace | undefined {
  const calling = workers.filter(({ active, outage }) => active > 0 || outage !== undefined);
  const [first] = calling.flatMap(({ outage }) => outage ?? []);
  const isOut = first !== undefined && calling.every(({ outage }) => outage !== undefined);
  return pace && isOut ? duringOutage(pace, first) : pace;
}

/** Whether a process works on the run, or will once it is unpaused. */
export function isActive(state: string): boolean {
  return state === 'running' || state === 'paused';
}

/** The runs whose bounds set the rate. Other runs keep to their bounds by how fast they feed rows. */
export function ofHighestPriority(runs: readonly RunEntry[]): readonly RunEntry[] {
  const open = runs.filter(({ rows, done = 0 }) => done < rows);
  const highest = priorities.find((each) => open.some(({ priority = usualPriority }) => priority === each));
  return open.filter(({ priority = usualPriority }) => priority === highest);
}

/** The state of a run by its entry: interrupted if its process is gone. */
export function actualEntryState(entry: RunEntry): string {
  return isActive(entry.state) && !isPresent(entry) ? 'interrupted' : entry.state;
}
