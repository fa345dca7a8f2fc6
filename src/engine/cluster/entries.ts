import { z } from 'zod';
import { attributionSchema } from '../../domain/actor.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { rateGroupNames, runIds } from '../../domain/names.ts';
import { duringOutage, type PaceReport, phases } from '../../domain/pace.ts';
import { noOutcomes, outcomes, priorities, usualPriority } from '../../domain/terms.ts';
import { ratePolicySchema } from './rate-policy.ts';

/** What processes publish to all processes on the same Redis. */

/** Rows by outcome. Ignores outcomes of other versions. */
export const countsSchema = z
  .partialRecord(z.enum(outcomes), z.number())
  .transform((counts) => ({ ...noOutcomes(), ...counts }));

/** An API. Entries of older versions have no rate group. */
const limitedApiSchema = z.object({
  baseUrl: z.string(),
  rateGroup: nameSchema(rateGroupNames).exactOptional(),
});

const processSchema = z.object({ host: z.string(), pid: z.number() });

export const runEntrySchema = z.object({
  id: nameSchema(runIds),
  /** A random key: distinguishes runs with the same id. */
  key: z.string(),
  ...limitedApiSchema.shape,
  manifest: z.string(),
  state: z.string(),
  /** Why the run ended, if its state does not say so. */
  because: z.string().exactOptional(),
  /** Why the datastore delays the run, perhaps by refusing only some commands; absent without a delay. */
  waiting: z.string().exactOptional(),
  /** Rows of the manifest. */
  rows: z.number(),
  /** Rows with a result; absent in entries of older versions, whose counts contain only such rows. */
  done: z.number().exactOptional(),
  /** Rows by outcome, as in the report of the run. */
  counts: countsSchema,
  /** Rows finished per second over the last seconds. */
  rowsPerSecond: z.number(),
  /** How fast the run allows the API to be called; absent: as fast as possible. */
  rate: ratePolicySchema.exactOptional(),
  /** Default `normal`. */
  priority: z.enum(priorities).exactOptional(),
  /** The process that feeds the rows of the run and collects their results. */
  coordinator: processSchema.extend({ version: z.string().exactOptional() }),
  /** Whether that process has finished the run, including its report. */
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

/** How the calls of a process ended. Counts are since its start; times are ages. */
const trafficReportSchema = z.object({
  /** Calls that the API let through. */
  accepted: z.number(),
  /** Calls that the API refused because there were too many. */
  rejected: z.number(),
  /** Calls answered with 503 without a waiting time; they count as neither. */
  unavailable: z.number().exactOptional(),
  /** Sum of the durations of all accepted calls. */
  durationMs: z.number(),
  /** Calls in flight now. */
  active: z.number(),
  /** Age of the latest rejected call when the report was made. */
  refusedAgoMs: z.number().exactOptional(),
  /** HTTP status of the latest rejected call. */
  refusedWith: z.number().exactOptional(),
  /** How long the API still asks to wait. */
  waitMs: z.number().exactOptional(),
  /** What asks for this wait: see `AskedWait`. */
  waitBy: z.string().optional(),
  /** The most calls in flight when an accepted call was sent since the last report, including the call. */
  acceptedAmong: z.number().exactOptional(),
  /** The fewest calls in flight when a rejected call was sent. */
  rejectedAmong: z.number().exactOptional(),
  stated: z.array(statedLimitSchema),
});

/** A stored pace. Times are stored as durations and ages, because clocks differ. */
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
  /** Runs whose policies the pace obeys. */
  runs: z.array(z.string()),
  /** Workers that share the calls in flight. */
  workers: z.number(),
  seenAt: z.string(),
});

export const workerEntrySchema = z.object({
  id: z.string(),
  ...processSchema.shape,
  version: z.string(),
  ...limitedApiSchema.shape,
  concurrency: z.number(),
  /** Set when the worker takes its share of the calls in flight of the pace, instead of a number of its own. */
  isAuto: z.literal(true).exactOptional(),
  /** Rows in flight. */
  active: z.number(),
  /** Rows finished since the worker started. */
  finished: z.number(),
  /** Why the worker makes only single test calls; absent while the API answers. */
  outage: z.object({ reason: z.string(), testMs: z.number() }).optional(),
  /** Absent for workers without a governor. */
  traffic: trafficReportSchema.exactOptional(),
  startedAt: z.string(),
  seenAt: z.string(),
});

const dated = {
  at: z.string(),
  /** The user, and the reason. */
  ...attributionSchema.shape,
};

/** A user's command to a run. Rates and priorities are separate: a paused run with a new rate stays paused. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.enum(['unpause', 'pause', 'cancel']), ...dated }),
  z.object({
    kind: z.literal('rate'),
    /** How fast the API may be called; null: as fast as possible. */
    rate: ratePolicySchema.nullable(),
    ...dated,
  }),
  z.object({ kind: z.literal('priority'), priority: z.enum(priorities), ...dated }),
]);

export type RunEntry = z.infer<typeof runEntrySchema>;
export type WorkerEntry = z.infer<typeof workerEntrySchema>;
export type TrafficReport = z.infer<typeof trafficReportSchema>;
/** The last decided pace, with its runs and workers. */
export interface PublishedPace
  extends PaceReport,
    Pick<z.infer<typeof paceEntrySchema>, 'runs' | 'workers' | 'seenAt'> {}
/** A user's control of a run, with its time: the latest of each kind counts. */
export type Control = z.infer<typeof controlSchema>;
export const controlKinds = ['command', 'rate', 'priority'] as const satisfies readonly Control['kind'][];
export type ControlOf<Kind extends Control['kind']> = Extract<Control, { readonly kind: Kind }>;

/** Age at which an entry belongs to a process that is gone or can't reach the datastore. */
export const goneAfterMs = 15_000;
/** How long a run stays visible after its end, and a worker after its last beat. */
export const forgottenAfterMs = 24 * 60 * 60 * 1_000;

/** Whether the process of an entry has shown a recent sign of life. */
export function isPresent({ seenAt }: { readonly seenAt: string }, withinMs = goneAfterMs): boolean {
  return Date.now() - Date.parse(seenAt) < withinMs;
}

/** The pace of an API for display: shown as an outage if every worker that has calls is in an outage. */
export function paceSeenBy(
  workers: readonly WorkerEntry[],
  pace: PublishedPace | undefined,
): PublishedPace | undefined {
  const calling = workers.filter(({ active, outage }) => active > 0 || outage !== undefined);
  const [first] = calling.flatMap(({ outage }) => outage ?? []);
  const isOut = first !== undefined && calling.every(({ outage }) => outage !== undefined);
  return pace && isOut ? duringOutage(pace, first) : pace;
}

/** Whether a process works on a run in this state, or will once the run is unpaused. */
export function isActive(state: string): boolean {
  return state === 'running' || state === 'paused';
}

/** The unfinished runs of the highest priority, whose bounds set the rate. Other runs keep to their bounds by how fast they feed rows. */
export function ofHighestPriority(runs: readonly RunEntry[]): readonly RunEntry[] {
  const open = runs.filter(({ rows, done = 0 }) => done < rows);
  const highest = priorities.find((each) => open.some(({ priority = usualPriority }) => priority === each));
  return open.filter(({ priority = usualPriority }) => priority === highest);
}

/** The real state of a run: interrupted if its process is gone, whatever its entry says. */
export function actualEntryState(entry: RunEntry): string {
  return isActive(entry.state) && !isPresent(entry) ? 'interrupted' : entry.state;
}
