import { z } from 'zod';
import { attributionSchema } from '../actor.ts';
import { noOutcomes, outcomes } from '../domain.ts';
import { type PaceReport, phases } from '../pace.ts';
import { ratePolicySchema } from './rate-policy.ts';

/** What processes say of themselves to all who see the same Redis. */

/** Rows by outcome. Outcomes that another version does not know have none. */
export const countsSchema = z
  .partialRecord(z.enum(outcomes), z.number())
  .transform((counts) => ({ ...noOutcomes(), ...counts }));

const processSchema = z.object({ host: z.string(), pid: z.number() });

export const runEntrySchema = z.object({
  id: z.string(),
  /** Drawn when the run was made: tells two runs of the same id apart. */
  key: z.string(),
  baseUrl: z.string(),
  manifest: z.string(),
  state: z.string(),
  /** Why it ended, as far as its state does not say so. */
  because: z.string().exactOptional(),
  /** Rows of the manifest. */
  rows: z.number(),
  /** Rows with a result; absent in entries of older versions, whose counts are of these alone. */
  done: z.number().exactOptional(),
  /** As the report of the run counts them. */
  counts: countsSchema,
  /** Rows finished per second over the last seconds. */
  rowsPerSecond: z.number(),
  /** How fast the run lets the API be called; absent: as fast as can be. */
  rate: ratePolicySchema.exactOptional(),
  /** The process that feeds and collects it. */
  coordinator: processSchema,
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

/** What the calls of a process have met with. Counts are of all its time; moments are told by how long ago they were. */
const trafficReportSchema = z.object({
  /** Calls that the API let through. */
  accepted: z.number(),
  /** Calls that it refused because they were too many. */
  rejected: z.number(),
  /** Calls that were answered 503 without being asked to wait, and that count as neither. */
  unavailable: z.number().exactOptional(),
  /** Of the accepted calls together. */
  durationMs: z.number(),
  /** Calls in flight now. */
  active: z.number(),
  /** How long ago the latest of the rejected calls was sent. */
  refusedAgoMs: z.number().exactOptional(),
  /** Its HTTP status. */
  refusedWith: z.number().exactOptional(),
  /** How long the API still asks to wait. */
  waitMs: z.number().exactOptional(),
  /** The most calls that were in flight when one was sent that was accepted since the last report, itself included. */
  acceptedAmong: z.number().exactOptional(),
  /** The fewest, for one that was rejected. */
  rejectedAmong: z.number().exactOptional(),
  stated: z.array(statedLimitSchema),
});

/** A pace as it is stored: clocks differ, so that a rest is told by how long it lasts. */
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
  /** Rows that it has finished since it was started. */
  finished: z.number(),
  /** Absent from workers that know no governor. */
  traffic: trafficReportSchema.exactOptional(),
  startedAt: z.string(),
  seenAt: z.string(),
});

const dated = {
  at: z.string(),
  /** Who wants it, and why. */
  ...attributionSchema.shape,
};

/** What a person wants of a run. A rate is apart from the commands: a paused run that gets another one stays paused. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.enum(['unpause', 'pause', 'cancel']), ...dated }),
  z.object({
    kind: z.literal('rate'),
    /** How fast the API may be called; null: as fast as can be. */
    rate: ratePolicySchema.nullable(),
    ...dated,
  }),
]);

export type RunEntry = z.infer<typeof runEntrySchema>;
export type WorkerEntry = z.infer<typeof workerEntrySchema>;
export type TrafficReport = z.infer<typeof trafficReportSchema>;
/** The pace that was decided last, and for whom. */
export interface PublishedPace
  extends PaceReport,
    Pick<z.infer<typeof paceEntrySchema>, 'runs' | 'workers' | 'seenAt'> {}
/** What a person wants of a run, and when that was said: of each kind the latest counts. */
export type Control = z.infer<typeof controlSchema>;
export type ControlOf<Kind extends Control['kind']> = Extract<Control, { readonly kind: Kind }>;

/** An entry that was not renewed for so long belongs to a process that is gone, or can't reach the datastore. */
export const goneAfterMs = 15_000;
/** So long the entry of a run can still be seen after its end, and that of a worker after its last sign. */
export const forgottenAfterMs = 24 * 60 * 60 * 1_000;

/** Whether the process behind an entry has been heard of lately. */
export function isPresent({ seenAt }: { readonly seenAt: string }, withinMs = goneAfterMs): boolean {
  return Date.now() - Date.parse(seenAt) < withinMs;
}

/** Whether a process works on a run in this state, or will as soon as somebody wants it to. */
export function isActive(state: string): boolean {
  return state === 'running' || state === 'paused';
}

/** The state of a run as it really is: one whose process is gone is interrupted, whatever its entry says. */
export function actualEntryState(entry: RunEntry): string {
  return isActive(entry.state) && !isPresent(entry) ? 'interrupted' : entry.state;
}
