import type { JobJson } from 'bullmq';

/** A job as the model of the datastore keeps it: plain data, so that a copy can be saved and restored. */
export interface StoredJob {
  readonly id: string;
  json: JobJson;
  readonly parentKey: string | undefined;
  attemptsMade: number;
  attemptsStarted: number;
  stalledCounter: number;
  processedOn?: number;
  delay: number;
  failedReason?: string;
  stacktrace?: string;
  returnValue?: string;
  finishedOn?: number;
  lock: { readonly token: string; readonly until: number } | undefined;
  /** Keys of unfinished children, and return values of finished ones. */
  readonly pending: Set<string>;
  readonly processed: Map<string, string>;
  readonly logs: string[];
}

/** A queue: its jobs, and which of them are in which state; the next one to be claimed is at the end of `waiting`. */
export interface StoredQueue {
  readonly jobs: Map<string, StoredJob>;
  waiting: string[];
  /** The next one first, after all of `waiting`. */
  prioritized: { readonly id: string; readonly priority: number }[];
  active: string[];
  delayed: { readonly id: string; readonly at: number }[];
  waitingChildren: string[];
  completed: string[];
  failed: string[];
  stalled: Set<string>;
  stalledCheckUntil: number;
  isPaused: boolean;
  readonly meta: Map<string, string>;
  /** The scores of markers that no worker has taken. */
  readonly markers: Map<'0' | '1', number>;
}

/** All data of the model of a datastore. */
export interface StoredData {
  readonly queues: Map<string, StoredQueue>;
  /** A key of the program that is lost together with all others. */
  mark: string | undefined;
  /** When each worker last showed a sign of life, and what the workers have testified. */
  readonly beats: Map<string, number>;
  readonly testimonies: Map<string, string>;
}

export function noData(): StoredData {
  return { queues: new Map(), mark: undefined, beats: new Map(), testimonies: new Map() };
}

export function newJob(id: string, json: JobJson, parentKey: string | undefined): StoredJob {
  return {
    id,
    json,
    parentKey,
    attemptsMade: 0,
    attemptsStarted: 0,
    stalledCounter: 0,
    delay: 0,
    lock: undefined,
    pending: new Set(),
    processed: new Map(),
    logs: [],
  };
}

export function newQueue(): StoredQueue {
  return {
    jobs: new Map(),
    waiting: [],
    prioritized: [],
    active: [],
    delayed: [],
    waitingChildren: [],
    completed: [],
    failed: [],
    stalled: new Set(),
    stalledCheckUntil: 0,
    isPaused: false,
    meta: new Map(),
    markers: new Map(),
  };
}

/** The states of BullMQ, as the model keeps them. */
export function jobsIn(queue: StoredQueue, state: string): readonly string[] {
  switch (state) {
    // From the newest to the next one.
    case 'wait':
    case 'waiting':
      return queue.waiting;
    case 'active':
      return queue.active;
    case 'delayed':
      return queue.delayed.map(({ id }) => id);
    case 'waiting-children':
      return queue.waitingChildren;
    case 'completed':
      return queue.completed;
    case 'failed':
      return queue.failed;
    case 'prioritized':
      return queue.prioritized.map(({ id }) => id);
    case 'paused':
      return [];
    default:
      throw new TypeError(`The model knows no state ${state}.`);
  }
}

/** A job as BullMQ reads it. */
export function jsonOf(job: StoredJob): JobJson {
  return {
    ...job.json,
    id: job.id,
    attemptsMade: job.attemptsMade,
    attemptsStarted: job.attemptsStarted,
    stalledCounter: job.stalledCounter,
    delay: job.delay,
    ...(job.processedOn !== undefined && { processedOn: job.processedOn }),
    ...(job.finishedOn !== undefined && { finishedOn: job.finishedOn }),
    ...(job.failedReason !== undefined && { failedReason: job.failedReason }),
    ...(job.stacktrace !== undefined && { stacktrace: job.stacktrace }),
    ...(job.returnValue !== undefined && { returnvalue: job.returnValue }),
  } as JobJson;
}

/** When the first delayed job is due; 0 without one. */
export function nextDue({ delayed }: StoredQueue): number {
  return delayed[0]?.at ?? 0;
}

export function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
  return place >= 0;
}

/** Whether a job can be claimed. */
export function hasNext({ waiting, prioritized }: StoredQueue): boolean {
  return waiting.length + prioritized.length > 0;
}
