import { z } from 'zod';
import { attributionSchema } from '../actor.ts';
import { noOutcomes, outcomes } from '../domain.ts';
import { type PaceReport, phases } from '../pace.ts';
import { ratePolicySchema } from './rate-policy.ts';

/** What processes publish about themselves to all processes with the same Redis. */

/** Rows by outcome, without outcomes that another version does not know. */
export const countsSchema = z
  .partialRecord(z.enum(outcomes), z.number())
  .transform((counts) => ({ ...noOutcomes(), ...counts }));

const processSchema = z.object({ host: z.string(), pid: z.number() });

export const runEntrySchema = z.object({
  id: z.string(),
  /** Drawn when the run was made: distinguishes two runs of the same id. */
  key: z.string(),
  baseUrl: z.string(),
  manifest: z.string(),
  state: z.string(),
  /** Why it ended, unless its state says so. */
  because: z.string().exactOptional(),
  /** Rows of the manifest. */
  rows: z.number(),
  /** Rows with a result; absent in entries of older versions, whose counts contain only such rows. */
  done: z.number().exactOptional(),
  /** As the report of the run counts them. */
  counts: countsSchema,
  /** Rows finished per second over the last seconds. */
  rowsPerSecond: z.number(),
  /** How fast the run lets the API be called; absent: as fast as possible. */
  rate: ratePolicySchema.exactOptional(),
  /** The process that feeds and collects it. */
  coordinator: processSchema,
  /** Whether that process has finished with the run, its report included. */
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
  unit: z.enum(['requests', 'concurrent-requests']),
});

/** How the calls of a process ended. Counts cover all its time; moments are given as how long ago they were. */
const trafficReportSchema = z.object({
  /** Calls that the API let through. */
  accepted: z.number(),
  /** Calls that the API refused because there were too many. */
  rejected: z.number(),
  /** Calls that were answered with 503 and no waiting time, and that count as neither. */
  unavailable: z.number().exactOptional(),
  /** Of all accepted calls together. */
  durationMs: z.number(),
  /** Calls in flight now. */
  active: z.number(),
  /** How long ago the latest of the rejected calls was sent. */
  refusedAgoMs: z.number().exactOptional(),
  /** Its HTTP status. */
  refusedWith: z.number().exactOptional(),
  /** How long the API still asks to wait. */
  waitMs: z.number().exactOptional(),
  /** The most calls in flight, itself included, when a call was sent that was accepted since the last report. */
  acceptedAmong: z.number().exactOptional(),
  /** The fewest, for a call that was rejected. */
  rejectedAmong: z.number().exactOptional(),
  stated: z.array(statedLimitSchema),
});

/** A pace as it is stored: clocks differ, so that a rest is stored as a duration. */
export const paceEntrySchema = z.object({
  rate: z.number().exactOptional(),
  isKept: z.boolean(),
  concurrency: z.number(),
  restMs: z.number(),
  limit: z.number().exactOptional(),
  phase: z.enum(phases),
  refuses503: z.boolean(),
  reason: z.string(),
  boundBy: z.string().exactOptional(),
  accepted: z.number(),
  rejected: z.number(),
  /** Runs whose policies it obeys. */
  runs: z.array(z.string()),
  /** Workers that share the calls in flight. */
  workers: z.number(),
  seenAt: z.string(),
});

export const workerEntrySchema = z.object({
  id: z.string(),
  ...processSchema.shape,
  version: z.string(),
  /** Of the API whose rows it calls. */
  baseUrl: z.string(),
  concurrency: z.number(),
  /** Rows in flight. */
  active: z.number(),
  /** Rows that it has finished since it started. */
  finished: z.number(),
  /** Absent from workers that have no governor. */
  traffic: trafficReportSchema.exactOptional(),
  startedAt: z.string(),
  seenAt: z.string(),
});

const dated = {
  at: z.string(),
  /** The user that wants it, and why. */
  ...attributionSchema.shape,
};

/** What a user wants of a run. The rate is separate from the commands: a paused run that gets a new rate stays paused. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.enum(['unpause', 'pause', 'cancel']), ...dated }),
  z.object({
    kind: z.literal('rate'),
    /** How fast the API may be called; null: as fast as possible. */
    rate: ratePolicySchema.nullable(),
    ...dated,
  }),
]);

export type RunEntry = z.infer<typeof runEntrySchema>;
export type WorkerEntry = z.infer<typeof workerEntrySchema>;
export type TrafficReport = z.infer<typeof trafficReportSchema>;
/** The last pace that was decided, and for which runs. */
export interface PublishedPace
  extends PaceReport,
    Pick<z.infer<typeof paceEntrySchema>, 'runs' | 'workers' | 'seenAt'> {}
/** What a user wants of a run, and when that was said: the latest of each kind counts. */
export type Control = z.infer<typeof controlSchema>;
export type ControlOf<Kind extends Control['kind']> = Extract<Control, { readonly kind: Kind }>;

/** An entry that was not renewed for this long belongs to a process that is gone or can't reach the datastore. */
export const goneAfterMs = 15_000;
/** How long the entry of a run is visible after its end, and that of a worker after its last sign of life. */
export const forgottenAfterMs = 24 * 60 * 60 * 1_000;

/** Whether the process behind an entry was recently heard of. */
export function isPresent({ seenAt }: { readonly seenAt: string }, withinMs = goneAfterMs): boolean {
  return Date.now() - Date.parse(seenAt) < withinMs;
}

/** Whether a process works on a run in this state, or will as soon as a user wants it to. */
export function isActive(state: string): boolean {
  return state === 'running' || state === 'paused';
}

/** The actual state of a run: one whose process is gone is interrupted, whatever its entry says. */
export function actualEntryState(entry: RunEntry): string {
  return isActive(entry.state) && !isPresent(entry) ? 'interrupted' : entry.state;
}
