import type { JobJson } from 'bullmq';
import {
  jobsIn,
  jsonOf,
  newQueue,
  noData,
  type StoredData,
  type StoredJob,
  type StoredQueue,
} from './queue-data.ts';

/** A job of a flow, as BullMQ hands it over. */
export interface FlowEntry {
  readonly queueName: string;
  readonly jobId: string;
  readonly jobData: JobJson;
  readonly parentKeyOpts: { readonly parentKey?: string; readonly addToWaitingChildren?: boolean };
}

export interface Marker {
  readonly member: string;
  readonly score: number;
}

/** What BullMQ's scripts answer when they refuse. */
export type Refusal =
  | 'job-missing'
  | 'lock-missing'
  | 'lock-mismatch'
  | 'not-active'
  | 'not-delayed'
  | 'pending-children';

/** A worker that waits for a job. */
interface Waiter {
  readonly queue: string;
  readonly wake: (marker: Marker) => void;
}

/**
 * The part of BullMQ's datastore that `src/queue` builds on, in memory: each function is one script, done at once and whole.
 * That it promises what the datastores promise is shown by the suite that holds for all of them (`test/queue/conformance.ts`).
 */
export class QueueModel {
  #data = noData();
  readonly #waiters: Waiter[] = [];
  /** Milliseconds of the datastore's own clock. */
  readonly #now: () => number;
  /** Is told what is about to be added and what was written into a ledger. */
  onAdd: (entries: readonly FlowEntry[]) => void = () => {};
  onLog: (id: string, text: string) => void = () => {};
  /** Is told what else changes. */
  onChange: (what: string, queue: string, id: string) => void = () => {};

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A key that is lost with all others; named now if it has no name. */
  mark(name: string): string {
    this.#data.mark ??= name;
    return this.#data.mark;
  }

  copy(): StoredData {
    return structuredClone(this.#data);
  }

  /** Puts other data in place of all that there is; without any, there is nothing. */
  replace(data: StoredData = noData()): void {
    this.#data = data;
  }

  /** The queues that hold jobs, and how many. */
  jobCounts(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#data.queues]
        .map(([name, { jobs }]) => [name, jobs.size] as const)
        .filter(([, count]) => count > 0),
    );
  }

  hasQueue(name: string): boolean {
    return this.#data.queues.has(name);
  }

  addFlow(entries: readonly FlowEntry[]): [null, string][] {
    this.onAdd(entries);
    return entries.map(({ queueName, jobId, jobData, parentKeyOpts }) => {
      const queue = this.#queue(queueName);
      if (queue.jobs.has(jobId)) return [null, jobId];
      const job: StoredJob = {
        id: jobId,
        json: jobData,
        parentKey: parentKeyOpts.parentKey,
        attemptsMade: 0,
        attemptsStarted: 0,
        stalledCounter: 0,
        delay: 0,
        lock: undefined,
        pending: new Set(),
        processed: new Map(),
        logs: [],
      };
      queue.jobs.set(jobId, job);
      const parent = this.#jobOf(job.parentKey);
      parent?.job.pending.add(`${queueName}:${jobId}`);
      if (parentKeyOpts.addToWaitingChildren) queue.waitingChildren.push(jobId);
      else {
        queue.waiting.unshift(jobId);
        this.#mark(queueName);
      }
      return [null, jobId];
    });
  }

  /** @returns the next job, or when a delayed one is due */
  moveToActive(
    name: string,
    token: string,
    lockMs: number,
    clientNow: number,
  ): [JobJson | null, string, number, number] {
    const queue = this.#queue(name);
    this.#promote(name, clientNow);
    if (queue.isPaused) return [null, '', 0, 0];
    const id = queue.waiting.pop();
    const job = id === undefined ? undefined : queue.jobs.get(id);
    if (id === undefined || job === undefined) return [null, '', 0, nextDue(queue)];
    queue.active.unshift(id);
    this.onChange('claimed', name, id);
    if (token !== '0') job.lock = { token, until: this.#now() + lockMs };
    job.processedOn = clientNow;
    job.attemptsStarted += 1;
    if (queue.waiting.length > 0) this.#mark(name);
    return [jsonOf(job), id, 0, 0];
  }

  finish(
    name: string,
    id: string,
    state: 'completed' | 'failed',
    value: string,
    how: {
      readonly token: string;
      readonly isRemoved: boolean;
      readonly at: number;
      readonly stacktrace?: string;
    },
  ): Refusal | undefined {
    const queue = this.#queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 'job-missing';
    if (state === 'completed' && job.pending.size > 0) return 'pending-children';
    const refusal = this.#unlock(queue, job, how.token);
    if (refusal !== undefined) return refusal;
    if (!remove(queue.active, id)) return 'not-active';
    this.onChange(state, name, id);
    const parent = this.#jobOf(job.parentKey);
    if (parent?.job.pending.delete(`${name}:${id}`)) {
      if (state === 'completed') parent.job.processed.set(`${name}:${id}`, value);
      this.#release(parent);
    }
    job.attemptsMade += 1;
    if (how.isRemoved) queue.jobs.delete(id);
    else {
      queue[state].push(id);
      job.finishedOn = how.at;
      if (state === 'completed') job.returnValue = value;
      else job.failedReason = value;
    }
    return undefined;
  }

  moveToDelayed(
    name: string,
    id: string,
    {
      token,
      at,
      delayMs,
      fields,
    }: { token: string; at: number; delayMs: number; fields: Partial<StoredJob> },
  ): Refusal | undefined {
    const queue = this.#queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 'job-missing';
    const refusal = this.#unlock(queue, job, token);
    if (refusal !== undefined) return refusal;
    if (!remove(queue.active, id)) return 'not-active';
    this.onChange('delayed', name, id);
    Object.assign(job, fields);
    job.attemptsMade += 1;
    job.delay = delayMs;
    queue.delayed.push({ id, at });
    queue.delayed.sort((one, other) => one.at - other.at);
    this.#mark(name, '1', nextDue(queue));
    return undefined;
  }

  promote(name: string, id: string): Refusal | undefined {
    const queue = this.#queue(name);
    if (!queue.delayed.some((delayed) => delayed.id === id)) return 'not-delayed';
    queue.delayed = queue.delayed.filter((delayed) => delayed.id !== id);
    queue.waiting.unshift(id);
    this.#mark(name);
    return undefined;
  }

  moveActiveToWait(name: string, id: string, token: string): Refusal | undefined {
    const queue = this.#queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 'job-missing';
    const refusal = this.#unlock(queue, job, token);
    if (refusal !== undefined) return refusal;
    if (remove(queue.active, id)) {
      this.onChange('given back', name, id);
      queue.waiting.push(id);
      this.#mark(name);
    }
    return undefined;
  }

  /** Two such looks find a job whose lock has run out: the first one suspects it. */
  moveStalledJobsToWait(name: string, everyMs: number): string[] {
    const queue = this.#queue(name);
    if (this.#now() < queue.stalledCheckUntil) return [];
    queue.stalledCheckUntil = this.#now() + everyMs;
    const stalled: string[] = [];
    for (const id of queue.stalled) {
      const job = queue.jobs.get(id);
      if (job === undefined || this.#isLocked(job) || !remove(queue.active, id)) continue;
      this.onChange('stalled', name, id);
      job.stalledCounter += 1;
      queue.waiting.push(id);
      this.#mark(name);
      stalled.push(id);
    }
    queue.stalled = new Set(queue.active);
    return stalled;
  }

  extendLocks(name: string, ids: readonly string[], tokens: readonly string[], lockMs: number): string[] {
    const queue = this.#queue(name);
    return ids.filter((id, place) => {
      const job = queue.jobs.get(id);
      const token = tokens[place] ?? '';
      if (job === undefined || !this.#isLocked(job) || job.lock?.token !== token) return true;
      job.lock = { token, until: this.#now() + lockMs };
      queue.stalled.delete(id);
      return false;
    });
  }

  /** @returns how many there are then */
  addLog(name: string, id: string, text: string): number | Refusal {
    const job = this.#queue(name).jobs.get(id);
    if (job === undefined) return 'job-missing';
    this.onLog(id, text);
    return job.logs.push(text);
  }

  logs(name: string, id: string, start: number): { logs: string[]; count: number } {
    const logs = this.#queue(name).jobs.get(id)?.logs ?? [];
    return { logs: logs.slice(start), count: logs.length };
  }

  /** @returns 0 when it, or one of its children that are to go with it, is locked */
  remove(name: string, id: string, withChildren: boolean): number {
    const queue = this.#queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 1;
    const children = withChildren ? [...job.pending].map((key) => this.#jobOf(key)) : [];
    if (
      [job, ...children.map((child) => child?.job)].some((each) => each !== undefined && this.#isLocked(each))
    )
      return 0;
    this.onChange('removed', name, id);
    for (const child of children) if (child !== undefined) this.remove(child.name, child.job.id, true);
    const parent = this.#jobOf(job.parentKey);
    if (parent?.job.pending.delete(`${name}:${id}`)) this.#release(parent);
    for (const ids of [queue.waiting, queue.active, queue.waitingChildren, queue.completed, queue.failed])
      remove(ids, id);
    queue.delayed = queue.delayed.filter((delayed) => delayed.id !== id);
    queue.jobs.delete(id);
    return 1;
  }

  job(name: string, id: string): JobJson | undefined {
    const job = this.#queue(name).jobs.get(id);
    return job && jsonOf(job);
  }

  processedChildren(name: string, id: string): Record<string, string> {
    return Object.fromEntries(this.#queue(name).jobs.get(id)?.processed ?? []);
  }

  stateOf(name: string, id: string): string {
    const queue = this.#queue(name);
    const states = ['completed', 'failed', 'delayed', 'active', 'waiting', 'waiting-children'];
    return states.find((state) => jobsIn(queue, state).includes(id)) ?? 'unknown';
  }

  counts(name: string, states: readonly string[]): number[] {
    return states.map((state) => jobsIn(this.#queue(name), state).length);
  }

  ids(name: string, states: readonly string[]): string[][] {
    return states.map((state) => [...jobsIn(this.#queue(name), state)]);
  }

  pause(name: string, isPaused: boolean): void {
    const queue = this.#queue(name);
    queue.isPaused = isPaused;
    if (!isPaused && queue.waiting.length > 0) this.#mark(name);
  }

  isPaused(name: string): boolean {
    return this.#queue(name).isPaused;
  }

  setMeta(name: string, values: Readonly<Record<string, string | number>>): void {
    for (const [field, value] of Object.entries(values)) this.#queue(name).meta.set(field, String(value));
  }

  meta(name: string, field: string): string | null {
    return this.#queue(name).meta.get(field) ?? null;
  }

  obliterate(name: string): void {
    const queue = this.#queue(name);
    if (!queue.isPaused) throw new Error('Cannot obliterate non-paused queue');
    this.onChange('obliterated', name, '');
    // Children of its jobs, which are in other queues, stay.
    this.#data.queues.delete(name);
  }

  /** The marker that wakes a worker, at once if there is one. @returns a function after which it is not waited for */
  waitForMarker(queue: string, wake: (marker: Marker) => void): () => void {
    const waiter = { queue, wake };
    this.#waiters.push(waiter);
    this.#wake(queue);
    return () => void remove(this.#waiters, waiter);
  }

  #queue(name: string): StoredQueue {
    let queue = this.#data.queues.get(name);
    if (queue === undefined) {
      queue = newQueue();
      this.#data.queues.set(name, queue);
    }
    return queue;
  }

  #jobOf(key: string | undefined): { readonly name: string; readonly job: StoredJob } | undefined {
    if (key === undefined) return undefined;
    const end = key.lastIndexOf(':');
    const name = key.slice(0, end);
    const job = this.#data.queues.get(name)?.jobs.get(key.slice(end + 1));
    return job && { name, job };
  }

  #isLocked({ lock }: StoredJob): boolean {
    return lock !== undefined && lock.until > this.#now();
  }

  #unlock(queue: StoredQueue, job: StoredJob, token: string): Refusal | undefined {
    if (token === '0') return undefined;
    if (!this.#isLocked(job)) return 'lock-missing';
    if (job.lock?.token !== token) return 'lock-mismatch';
    job.lock = undefined;
    queue.stalled.delete(job.id);
    return undefined;
  }

  /** A parent whose last child is done is next. */
  #release({ name, job }: { readonly name: string; readonly job: StoredJob }): void {
    const queue = this.#queue(name);
    if (job.pending.size > 0 || !remove(queue.waitingChildren, job.id)) return;
    queue.waiting.push(job.id);
    this.#mark(name);
  }

  #promote(name: string, clientNow: number): void {
    const queue = this.#queue(name);
    while ((queue.delayed[0]?.at ?? Number.POSITIVE_INFINITY) <= clientNow) {
      const due = queue.delayed.shift();
      const job = due && queue.jobs.get(due.id);
      if (job === undefined) continue;
      job.delay = 0;
      queue.waiting.unshift(job.id);
      this.#mark(name);
    }
  }

  #mark(name: string, member: '0' | '1' = '0', score = 0): void {
    const queue = this.#queue(name);
    if (member === '0' && queue.isPaused) return;
    queue.markers.set(member, score);
    this.#wake(name);
  }

  #wake(name: string): void {
    const { markers } = this.#queue(name);
    for (const member of ['0', '1'] as const) {
      const score = markers.get(member);
      const waiter = score === undefined ? undefined : this.#waiters.find(({ queue }) => queue === name);
      if (score === undefined || waiter === undefined) continue;
      remove(this.#waiters, waiter);
      markers.delete(member);
      waiter.wake({ member, score });
    }
  }
}

function nextDue({ delayed }: StoredQueue): number {
  return delayed[0]?.at ?? 0;
}

function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
  return place >= 0;
}
