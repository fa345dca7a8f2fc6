import { z } from 'zod';
import { attributionSchema } from '../../domain/actor.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { runIds, scheduleNames } from '../../domain/names.ts';
import { goesOnByItself } from '../../engine/run/record/record.ts';
import { timeInId } from '../../engine/run/record/run-id.ts';
import type { RunStore } from '../../engine/run/record/store.ts';

/**
 * - A **schedule** says when and how runs of a manifest, or of the manifests in an inbox, start.
 * - It is **due** at the times of its pattern, and when a user triggers it. Each such moment is an **occasion**.
 * - The result of an occasion is an entry of its **history**.
 */

/** What happens to an occasion while the run of the previous occasion is in progress. */
export const overlapRules = ['skip', 'queue'] as const;

const changeKinds = ['added', 'replaced', 'paused', 'unpaused'] as const;

/** `schedule.json`, as users set it. Contains no token. */
export const scheduleSchema = z.object({
  version: z.literal(1),
  name: nameSchema(scheduleNames),
  /** A random key, which changes with each edit. */
  key: z.string(),
  /** Five fields (minute, hour, day of month, month, day of week), six with leading seconds, or an alias such as `@daily`. */
  cron: z.string(),
  /** The time zone by its IANA name: `Europe/London`. */
  tz: z.string(),
  /** The manifest or the inbox, as absolute paths. */
  source: z.union([z.object({ manifest: z.string() }), z.object({ inbox: z.string() })]),
  /** The options as the user gave them; the daemon's environment and configuration file supply the rest. */
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  overlap: z.enum(overlapRules),
  /** Milliseconds by which an occasion may be late and still start its run; null: none. */
  catchUpMs: z.number().nullable(),
  paused: z.boolean(),
  /** When the schedule was added, replaced or unpaused, ISO 8601 UTC. Earlier times do not count. */
  since: z.string(),
  /** The changes by users, latest last. */
  changes: z.array(z.object({ what: z.enum(changeKinds), at: z.string(), ...attributionSchema.shape })),
});

export type Schedule = Readonly<z.infer<typeof scheduleSchema>>;

/** What `trigger.json` has: a request of a user to start a run now. */
export const triggerSchema = z.object({ at: z.string(), ...attributionSchema.shape });

export type Trigger = Readonly<z.infer<typeof triggerSchema>>;

const occasionSchema = z.object({
  /** When the occasion was due, ISO 8601 UTC. */
  due: z.string(),
  /** The user who triggered the occasion. Absent for times of the pattern. */
  trigger: triggerSchema.exactOptional(),
});

export type Occasion = Readonly<z.infer<typeof occasionSchema>>;

/** When the last of several occasions was due. */
const lastDueMember = z.string().exactOptional();

const entrySchema = z.discriminatedUnion('result', [
  occasionSchema.extend({
    result: z.literal('began'),
    at: z.string(),
    runs: z.array(nameSchema(runIds)),
    /** Manifests in an inbox that can't be run as they are. */
    refused: z.array(z.string()).exactOptional(),
  }),
  /** The inbox was empty when the schedule was due. */
  occasionSchema.extend({ result: z.literal('idle'), until: lastDueMember }),
  /** The run was in progress, or the schedule was paused while the occasion waited. */
  occasionSchema.extend({ result: z.literal('skipped'), because: z.string(), until: lastDueMember }),
  /** No daemon was running to start a run in time. */
  occasionSchema.extend({ result: z.literal('missed'), at: z.string(), until: lastDueMember }),
  occasionSchema.extend({
    result: z.literal('failed'),
    at: z.string(),
    code: z.string(),
    message: z.string(),
  }),
]);

export type HistoryEntry = Readonly<z.infer<typeof entrySchema>>;

/** `state.json`: what the daemon knows. */
export const scheduleStateSchema = z.object({
  version: z.literal(1),
  /** The latest time of the pattern that was processed. */
  doneUntil: z.string().exactOptional(),
  /** After a kill, its runs may be submitted or not, so the next look submits them again. */
  beginning: occasionSchema.exactOptional(),
  /** An occasion that starts after the run in progress. */
  waiting: occasionSchema.exactOptional(),
  /** The history: at most 300 entries, latest last. */
  history: z.array(entrySchema),
});

export type ScheduleState = Readonly<z.infer<typeof scheduleStateSchema>>;

export const newState: ScheduleState = { version: 1, history: [] };

/** The id of an occasion's run, which is always the same. The time in the id is UTC, as in other ids. */
export function runIdFor({ name }: Pick<Schedule, 'name'>, { due, trigger }: Occasion): string {
  return `${name}-${timeInId(due)}${trigger === undefined ? '' : '-now'}`;
}

/** The id of the last run, only if the run goes on without a user who resumes it. */
export async function goingScheduledRun(
  runs: RunStore,
  { history }: ScheduleState,
): Promise<string | undefined> {
  const started = history.flatMap((entry) => (entry.result === 'began' ? [entry.runs] : []));
  for (const id of started.findLast((ids) => ids.length > 0) ?? []) {
    const record = await runs.look(id);
    if (record === 'being planned' || (record !== undefined && goesOnByItself(record))) return id;
  }
  return undefined;
}
