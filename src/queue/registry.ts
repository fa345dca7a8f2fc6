import type { Job } from 'bullmq';
import { z } from 'zod';
import type { Datastore } from '../datastore/datastore.ts';
import { outcomes } from '../domain.ts';
import { bullmqOn, shortEventStream } from './bullmq.ts';
import { rowsQueueName } from './names.ts';
import { ratePolicySchema } from './rate-policy.ts';

/**
 * Who is there: the runs and workers of a shared datastore, so that every machine that sees it can tell how a run is
 * getting on and ask for it to be paused or cancelled. It is kept as jobs that nobody processes, because that is all
 * that every datastore of BullMQ has. What it says is for people: no result and no lock depends on it.
 */

const processSchema = z.object({ host: z.string(), pid: z.number() });

const runEntrySchema = z.object({
  id: z.string(),
  /** Drawn when the run was made: tells two runs of the same id apart. */
  key: z.string(),
  baseUrl: z.string(),
  manifest: z.string(),
  state: z.string(),
  /** Rows of the manifest. */
  rows: z.number(),
  /** Rows with a result. */
  counts: z.record(z.enum(outcomes), z.number()),
  /** Rows finished per second over the last seconds. */
  ratePerSecond: z.number(),
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
  /** Calls that were answered 503 without being asked to wait, refused or not; absent from workers that do not count them. */
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

const paceEntrySchema = z.object({
  /** The API, normalised. */
  baseUrl: z.string(),
  /** The worker that governs it, and the runs whose wishes it has heard of. */
  worker: z.string(),
  runs: z.array(z.string()),
  /** Workers that share the calls in flight. */
  workers: z.number(),
  /** Calls per second that are allowed; absent: as many as can be. */
  rate: z.number().exactOptional(),
  /** Calls in flight that are allowed, of all workers. */
  concurrency: z.number(),
  /** Calls in flight, of all workers. */
  active: z.number(),
  /** How long no call may be made yet. */
  restMs: z.number(),
  /** The limit of the API in calls per second, if it is known. */
  learned: z.number().exactOptional(),
  phase: z.string(),
  reason: z.string(),
  /** Whether a 503 that does not ask to wait is no refusal; absent from workers that know nothing of it. */
  tolerates503: z.boolean().exactOptional(),
  /** Whether each worker's gate keeps an equal part of the rate; absent from those that leave it to the queue. */
  gatesKeep: z.boolean().exactOptional(),
  /** Then, when it was the turn of the first worker, milliseconds since 1970. */
  turnAt: z.number().exactOptional(),
  /** Calls that were accepted and rejected since the governor began. */
  accepted: z.number(),
  rejected: z.number(),
  seenAt: z.string(),
});

const workerEntrySchema = z.object({
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

const wishSchema = z.object({ wish: z.enum(['go', 'pause', 'cancel']), at: z.string() });

export type RunEntry = z.infer<typeof runEntrySchema>;
export type WorkerEntry = z.infer<typeof workerEntrySchema>;
export type TrafficReport = z.infer<typeof trafficReportSchema>;
/** How an API is called at the moment. */
export type PaceEntry = z.infer<typeof paceEntrySchema>;
/** What somebody wants a run to do. */
export type Wish = z.infer<typeof wishSchema>['wish'];
/** A wish, and when it was made: the latest one counts. */
export type DatedWish = z.infer<typeof wishSchema>;

/** An entry that was not renewed for so long belongs to a process that is gone, or can't reach the datastore. */
export const goneAfterMs = 15_000;
/** So long the entry of a run can still be seen after its end, and that of a worker after its last sign. */
const forgottenAfterMs = 24 * 60 * 60 * 1_000;

export interface Registry {
  /**
   * Writes down a run, or how it is getting on.
   *
   * @returns false when another run of the same id is there; nothing was written then.
   */
  putRun(entry: RunEntry): Promise<boolean>;
  runs(): Promise<readonly RunEntry[]>;
  run(id: string): Promise<RunEntry | undefined>;
  putWorker(entry: WorkerEntry): Promise<void>;
  removeWorker(id: string): Promise<void>;
  workers(): Promise<readonly WorkerEntry[]>;
  putPace(entry: PaceEntry): Promise<void>;
  pace(baseUrl: string): Promise<PaceEntry | undefined>;
  /** Asks whoever coordinates a run to do something, now or when somebody does. */
  wish(runId: string, wish: Wish): Promise<void>;
  wishOf(runId: string): Promise<DatedWish | undefined>;
  /** Removes what nobody will want to see any more. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const payloadVersion = 1;
type Stored = { readonly v: number; readonly text: string };

export function openRegistry(datastore: Datastore): Registry {
  const { classes, options } = bullmqOn(datastore);
  const table = <Entry>(name: string, schema: z.ZodType<Entry>) => {
    const queue = new classes.Queue<Stored>(name, { ...options, ...shortEventStream });
    queue.on('error', () => {});
    const read = (data: Stored): Entry | undefined => {
      // Another version of the program may keep what this one does not understand.
      if (data?.v !== payloadVersion) return undefined;
      try {
        return schema.safeParse(JSON.parse(data.text)).data;
      } catch {
        return undefined;
      }
    };
    const get = async (id: string) => {
      const job = await queue.getJob(jobId(id));
      return job === undefined ? undefined : { job, entry: read(job.data) };
    };
    const stored = (entry: Entry): Stored => ({ v: payloadVersion, text: JSON.stringify(entry) });
    /** Does nothing when there is an entry of that id. */
    const add = async (id: string, entry: Entry): Promise<void> => {
      await queue.add('entry', stored(entry), { jobId: jobId(id) });
    };
    const replace = ({ job }: { readonly job: Job<Stored> }, entry: Entry): Promise<void> =>
      job.updateData(stored(entry));
    return {
      get,
      add,
      replace,
      async put(id: string, entry: Entry): Promise<void> {
        const known = await get(id);
        await (known === undefined ? add(id, entry) : replace(known, entry));
      },
      async all(): Promise<readonly Entry[]> {
        const jobs = await queue.getJobs(['waiting']);
        return jobs.map(({ data }) => read(data)).filter((entry) => entry !== undefined);
      },
      remove: (id: string) => queue.remove(jobId(id)),
      close: () => queue.close(),
    };
  };
  const runs = table('runs', runEntrySchema);
  const workers = table('workers', workerEntrySchema);
  const wishes = table('wishes', wishSchema);
  const paces = table('paces', paceEntrySchema);

  return {
    async putRun(entry) {
      // Two processes may come to the same id at the same moment: the datastore keeps the first one's.
      let known = await runs.get(entry.id);
      if (known === undefined) {
        await runs.add(entry.id, entry);
        known = await runs.get(entry.id);
      }
      if (known?.entry?.key !== entry.key) return false;
      await runs.replace(known, entry);
      return true;
    },
    runs: runs.all,
    run: async (id) => (await runs.get(id))?.entry,
    putWorker: (entry) => workers.put(entry.id, entry),
    async removeWorker(id) {
      await workers.remove(id);
    },
    workers: workers.all,
    putPace: (entry) => paces.put(rowsQueueName(entry.baseUrl), entry),
    pace: async (baseUrl) => (await paces.get(rowsQueueName(baseUrl)))?.entry,
    wish: (runId, wish) => wishes.put(runId, { wish, at: new Date().toISOString() }),
    wishOf: async (runId) => (await wishes.get(runId))?.entry,
    async sweep() {
      const before = new Date(Date.now() - forgottenAfterMs).toISOString();
      for (const { id, seenAt } of await workers.all()) if (seenAt < before) await workers.remove(id);
      for (const { id, seenAt } of await runs.all()) {
        if (seenAt >= before) continue;
        await runs.remove(id);
        await wishes.remove(id);
      }
      for (const { baseUrl, seenAt } of await paces.all())
        if (seenAt < before) await paces.remove(rowsQueueName(baseUrl));
    },
    async close() {
      await Promise.all([runs.close(), workers.close(), wishes.close(), paces.close()]);
    },
  };
}

/** No plain number and no colon: BullMQ takes neither. */
function jobId(id: string): string {
  return `e-${id}`;
}

/** Whether the process behind an entry has been heard of lately. */
export function isPresent({ seenAt }: { readonly seenAt: string }, now = Date.now()): boolean {
  return now - Date.parse(seenAt) < goneAfterMs;
}
