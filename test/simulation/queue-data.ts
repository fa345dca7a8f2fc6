import type { JobJson } from 'bullmq';

/** A job as the model of the datastore keeps it: plain data, so that a copy can be saved and restored. */
export interface StoredJob {
  readonly id: string;
  readonly queue: string;
  json: JobJson;
  readonly parentKey: string | undefined;
  /** When it is due, if it is delayed. */
  dueAt: number;
  lock: { readonly token: string; readonly until: number } | undefined;
  /** Keys of unfinished children, and return values of finished ones. */
  readonly pending: Set<string>;
  readonly processed: Map<string, string>;
  readonly logs: string[];
}

/** The states of BullMQ, as the model keeps them. */
const states = [
  'completed',
  'failed',
  'delayed',
  'active',
  'waiting',
  'prioritized',
  'waiting-children',
] as const;
type State = (typeof states)[number];

/** A queue: its jobs, and the ids of those in each state. */
export interface StoredQueue {
  readonly jobs: Map<string, StoredJob>;
  /**
   * The next job to be claimed is at the end of `waiting`; after all of these, the next one is at the beginning of `prioritized`. The
   * next one to become due is at the beginning of `delayed`.
   */
  readonly ids: Readonly<Record<State, string[]>>;
  stalled: Set<string>;
  stalledCheckUntil: number;
  isPaused: boolean;
  /** The scores of markers that no worker has taken. */
  readonly markers: Map<'0' | '1', number>;
}

/** All data of the model of a datastore. */
export interface StoredData {
  readonly queues: Map<string, StoredQueue>;
  /** A key of the program that is lost together with all others. */
  mark: string | undefined;
}

export function noData(): StoredData {
  return { queues: new Map(), mark: undefined };
}

export function newJob(queue: string, id: string, json: JobJson, parentKey: string | undefined): StoredJob {
  return {
    id,
    queue,
    parentKey,
    dueAt: 0,
    lock: undefined,
    json: {
      ...json,
      ...(parentKey !== undefined && { parentKey }),
      id,
      attemptsMade: 0,
      attemptsStarted: 0,
      stalledCounter: 0,
      delay: 0,
    },
    pending: new Set(),
    processed: new Map(),
    logs: [],
  };
}

export function newQueue(): StoredQueue {
  const ids = Object.fromEntries(states.map((state) => [state, []])) as unknown as StoredQueue['ids'];
  const notStalled = { stalled: new Set<string>(), stalledCheckUntil: 0 };
  return { jobs: new Map(), ids, ...notStalled, isPaused: false, markers: new Map() };
}

/** The jobs in a state that BullMQ names. */
export function idsIn({ ids }: StoredQueue, name: string): readonly string[] {
  // The model has no jobs of this state.
  if (name === 'paused') return [];
  return ids[name === 'wait' ? 'waiting' : (name as State)];
}

export function stateOf({ ids }: StoredQueue, id: string): State | 'unknown' {
  return states.find((state) => ids[state].includes(id)) ?? 'unknown';
}

/** When the first delayed job is due; 0 without one. */
export function nextDue({ jobs, ids }: StoredQueue): number {
  return jobs.get(ids.delayed[0] ?? '')?.dueAt ?? 0;
}

export function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
  return place >= 0;
}

/** Whether a job can be claimed. */
export function hasNext({ ids: { waiting, prioritized } }: StoredQueue): boolean {
  return waiting.length + prioritized.length > 0;
}
