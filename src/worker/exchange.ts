import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type CommonPolicy, commonPolicy, type RatePolicy } from '../queue/rate-policy.ts';
import {
  goneAfterMs,
  type PaceEntry,
  type Registry,
  type RunEntry,
  type TrafficReport,
  type WorkerEntry,
} from '../queue/registry.ts';
import { renewedAmong } from '../queue/renewal-watch.ts';
import { isActive } from '../run/record.ts';

/** What is known after an exchange. */
export interface Exchanged {
  /** What each worker has met with, this one included. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** Whether this worker governs the API for all of them. */
  readonly leads: boolean;
  /** How many of them have been there for longer than this one. */
  readonly place: number;
  /** Absent while no run is there. */
  readonly policy?: CommonPolicy;
  /** What the worker that leads has decided; absent when this one does, or none has yet. */
  readonly pace?: PaceEntry;
}

/** What a worker says of itself. */
export type WorkerFacts = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency'>;

/** What is decided, for the others. */
export type Decision = Omit<PaceEntry, 'baseUrl' | 'worker' | 'runs' | 'workers' | 'seenAt'>;

/** How the workers of one API tell each other what they meet with, and who decides for all. */
export interface Exchange {
  /** How often to do so, milliseconds. */
  readonly everyMs: number;
  swap(report: TrafficReport): Promise<Exchanged>;
  /** Tells the others what this worker has decided. */
  publish(decision: Decision): Promise<void>;
  close(): Promise<void>;
}

/** How fast a limit that drops is noticed, and how well calls in flight are known. */
const beatMs = 100;
/** Runs begin and end more seldom. */
const runsEveryMs = 250;
/** A worker that has not been heard of for so long leads no more. */
const silentMs = 2_000;

/** Of a datastore that is ours alone: there are no others. */
export function ownExchange(policy: RatePolicy | undefined): Exchange {
  const common = commonPolicy([policy]);
  return {
    everyMs: beatMs,
    swap: async (report) => ({ reports: new Map([['own', report]]), leads: true, place: 0, policy: common }),
    async publish() {},
    async close() {},
  };
}

export interface SharedExchangeOptions {
  readonly registry: Registry;
  /** Version of the program. */
  readonly version: string;
  /** The API whose rows are called, normalised. */
  readonly baseUrl: string;
  readonly facts: () => WorkerFacts;
}

/** Of a shared datastore: shows this worker to everybody who sees it, until it is closed. */
export function sharedExchange(options: SharedExchangeOptions): Exchange {
  const { registry, baseUrl } = options;
  const id = randomUUID();
  const startedAt = new Date().toISOString();
  const presentWorkers = renewedAmong<WorkerEntry>(silentMs);
  const presentRuns = renewedAmong<RunEntry>(goneAfterMs);
  let runs: readonly RunEntry[] = [];
  let runsReadAt = Number.NEGATIVE_INFINITY;
  let workers = 1;
  let published: PaceEntry | undefined;

  return {
    everyMs: beatMs,
    async swap(report) {
      const own: WorkerEntry = {
        id,
        host: hostname(),
        pid: process.pid,
        version: options.version,
        baseUrl,
        ...options.facts(),
        traffic: report,
        startedAt,
        seenAt: new Date().toISOString(),
      };
      await registry.putWorker(own);
      const others = (await registry.workers()).filter((w) => w.baseUrl === baseUrl && w.id !== id);
      const present = [own, ...presentWorkers(others)].filter(({ traffic }) => traffic !== undefined);
      const first = present.reduce((one, other) => (precedes(other, one) ? other : one), own);
      if (performance.now() >= runsReadAt + runsEveryMs) {
        const beginning = performance.now();
        runs = presentRuns((await registry.runs()).filter((run) => run.baseUrl === baseUrl)).filter(
          ({ state }) => isActive(state),
        );
        runsReadAt = beginning;
      }
      workers = present.length;
      const leads = first.id === id;
      const pace = leads ? undefined : await registry.pace(baseUrl);
      return {
        reports: new Map(
          present.flatMap(({ id: worker, traffic }) => (traffic ? [[worker, traffic] as const] : [])),
        ),
        leads,
        place: present.filter((other) => precedes(other, own)).length,
        ...(runs.length > 0 && { policy: commonPolicy(runs.map(({ rate }) => rate)) }),
        // What one that is gone has decided holds until its successor decides, but is no news.
        ...(pace?.worker === first.id && { pace }),
      };
    },
    async publish(decision) {
      const seenAt = new Date().toISOString();
      published = { ...decision, baseUrl, worker: id, runs: runs.map((run) => run.id), workers, seenAt };
      await registry.putPace(published);
    },
    async close() {
      await registry.removeWorker(id);
      // Nobody is to wait for what it decides.
      if (published !== undefined && (await registry.pace(baseUrl))?.worker === id)
        await registry.putPace({ ...published, seenAt: new Date(0).toISOString() });
    },
  };
}

/** The one that has been there for longest leads. */
function precedes(one: WorkerEntry, other: WorkerEntry): boolean {
  return one.startedAt < other.startedAt || (one.startedAt === other.startedAt && one.id < other.id);
}
