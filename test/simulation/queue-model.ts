import type { JobJson, JobProgress, MinimalJob } from 'bullmq';
import {
  hasNext,
  idsIn,
  newJob,
  newQueue,
  nextDue,
  noData,
  remove,
  type StoredData,
  type StoredJob,
  type StoredQueue,
  stateOf,
} from './queue-data.ts';
import { type Marker, Waiters } from './waiters.ts';

/** A job of a flow, as BullMQ hands it over. */
export interface FlowEntry {
  readonly queueName: string;
  readonly jobId: string;
  readonly jobData: JobJson;
  readonly parentKeyOpts: { readonly parentKey?: string; readonly addToWaitingChildren?: boolean };
}

/** Keys of a queue, and those that each job can have. */
export const losableKeys = [
  'waiting',
  'prioritized',
  'active',
  'delayed',
  'waiting-children',
  'stalled',
  'job',
  'logs',
  'lock',
  'dependencies',
  'processed',
] as const;

export type LosableKey = (typeof losableKeys)[number];

type Identified = Pick<MinimalJob, 'id'>;

/**
 * The part of BullMQ's datastore on which `src/engine/queue` relies, in memory: each function is one script, done at once and whole. Those
 * that are named like functions of BullMQ's backend take the queue, and then the same arguments; they refuse with the same errors.
 * The suite for all datastores (`test/engine/queue/conformance.ts`) shows that it keeps their promises.
 */
export class QueueModel {
  #data: StoredData = noData();
  readonly #waiters = new Waiters();
  /** Milliseconds of the datastore's own clock. */
  readonly #now: () => number;
  /** Called with jobs about to be added, and with entries written into a ledger. */
  onAdd: (entries: readonly FlowEntry[]) => void = () => {};
  onLog: (id: string, text: string) => void = () => {};
  /** Called with all other changes. */
  onChange: (what: string, queue: string, id: string) => void = () => {};

  constructor(now: () => number) {
    this.#now = now;
  }

  copy(): StoredData {
    return structuredClone(this.#data);
  }

  /** Replaces all data; by default with none. */
  replace(data: StoredData = noData()): void {
    this.#data = data;
  }

  /** A key of a queue is deleted. @returns whether it was there, and not empty */
  lose(name: string, key: LosableKey): boolean {
    const queue = this.#data.queues.get(name);
    if (queue === undefined) return false;
    if (key === 'stalled') return emptied(queue.stalled);
    if (key in queue.ids) return queue.ids[key as keyof StoredQueue['ids']].splice(0).length > 0;
    const [job] = [...queue.jobs.values()].filter((each) => isWithKey(each, key));
    if (job === undefined) return false;
    if (key === 'job') return queue.jobs.delete(job.id);
    if (key === 'lock') job.lock = undefined;
    if (key === 'logs') job.logs.length = 0;
    if (key === 'dependencies') job.pending.clear();
    if (key === 'processed') job.processed.clear();
    return true;
  }

  /** The queues with jobs, and how many. */
  jobCounts(): readonly (readonly [string, number])[] {
    return [...this.#data.queues]
      .map(([name, { jobs }]) => [name, jobs.size] as const)
      .filter(([, count]) => count > 0);
  }

  /** A key that is lost together with all others; named now if it has no name. */
  mark(name: string): string {
    this.#data.mark ??= name;
    return this.#data.mark;
  }

  addFlow(_name: string, entries: readonly FlowEntry[]): [null, string][] {
    this.onAdd(entries);
    return entries.map(({ queueName, jobId, jobData, parentKeyOpts }) => {
      const queue = this.#queue(queueName);
      if (queue.jobs.has(jobId)) return [null, jobId];
      const job = newJob(queueName, jobId, jobData, parentKeyOpts.parentKey);
      queue.jobs.set(jobId, job);
      this.#jobOf(job.parentKey)?.pending.add(keyOf(job));
      if (parentKeyOpts.addToWaitingChildren) queue.ids['waiting-children'].push(jobId);
      else {
        this.#enqueue(queue, job, 'last');
        this.#wake(queueName);
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
    this.#awaken(name, queue, clientNow);
    if (queue.isPaused) return [null, '', 0, 0];
    const id = queue.ids.waiting.pop() ?? queue.ids.prioritized.shift();
    if (id === undefined) return [null, '', 0, nextDue(queue)];
    const job = queue.jobs.get(id) ?? this.#remainder(name, queue, id);
    queue.ids.active.unshift(job.id);
    this.onChange('claimed', name, job.id);
    if (token !== '0') job.lock = { token, until: this.#now() + lockMs };
    job.json.processedOn = clientNow;
    job.json.attemptsStarted += 1;
    if (hasNext(queue)) this.#wake(name);
    return [{ ...job.json }, job.id, 0, 0];
  }

  finish(
    name: string,
    id: string,
    state: 'completed' | 'failed',
    value: string,
    { token, kept, at }: { token: string; kept: number; at: number },
  ): void {
    const queue = this.#queue(name);
    const hasChildren = (queue.jobs.get(id)?.pending.size ?? 0) > 0;
    if (state === 'completed' && hasChildren)
      throw new Error(`Job ${id} has pending dependencies. moveToFinished`);
    const job = this.#take(queue, id, token, 'moveToFinished', state);
    const parent = this.#jobOf(job.parentKey);
    if (parent?.pending.delete(keyOf(job))) {
      if (state === 'completed') parent.processed.set(keyOf(job), value);
      this.#release(parent);
    }
    job.json.attemptsMade += 1;
    job.json.finishedOn = at;
    job.json[state === 'completed' ? 'returnvalue' : 'failedReason'] = value;
    queue.ids[state].unshift(id);
    for (const removed of queue.ids[state].splice(kept)) queue.jobs.delete(removed);
  }

  moveToDelayed(
    name: string,
    id: string,
    { token, at, delayMs, fields }: { token: string; at: number; delayMs: number; fields: Partial<JobJson> },
  ): void {
    const queue = this.#queue(name);
    const job = this.#take(queue, id, token, 'moveToDelayed', 'delayed');
    Object.assign(job.json, fields);
    job.json.attemptsMade += 1;
    job.json.delay = delayMs;
    job.dueAt = at;
    const dueAt = (other: string): number => queue.jobs.get(other)?.dueAt ?? 0;
    queue.ids.delayed.push(id);
    queue.ids.delayed.sort((one, other) => dueAt(one) - dueAt(other));
    this.#wake(name, '1', nextDue(queue));
  }

  promote(name: string, id: string): void {
    const { ids } = this.#queue(name);
    if (!remove(ids.delayed, id)) throw new Error(`Job ${id} is not in the delayed state. promote`);
    ids.waiting.unshift(id);
    this.#wake(name);
  }

  changePriority(name: string, id: string, priority = 0): void {
    const queue = this.#queue(name);
    const job = this.#known(queue, id, 'changePriority');
    job.json.opts = { ...job.json.opts, priority };
    if (remove(queue.ids.prioritized, id) || remove(queue.ids.waiting, id)) this.#enqueue(queue, job, 'last');
  }

  moveJobFromActiveToWait(name: string, id: string, token = '0'): number {
    const queue = this.#queue(name);
    const job = this.#unlock(queue, id, token, 'moveJobFromActiveToWait');
    if (remove(queue.ids.active, id)) {
      this.onChange('given back', name, id);
      this.#enqueue(queue, job, 'first');
      this.#wake(name);
    }
    return 0;
  }

  /** Two such looks find a job whose lock has expired: the first one suspects it. */
  moveStalledJobsToWait(name: string, everyMs: number): string[] {
    const queue = this.#queue(name);
    if (this.#now() < queue.stalledCheckUntil) return [];
    queue.stalledCheckUntil = this.#now() + everyMs;
    const stalled: string[] = [];
    for (const id of queue.stalled) {
      const known = queue.jobs.get(id);
      if ((known !== undefined && this.#isLocked(known)) || !remove(queue.ids.active, id)) continue;
      const job = known ?? this.#remainder(name, queue, id);
      this.onChange('stalled', name, id);
      job.json.stalledCounter += 1;
      queue.ids.waiting.push(id);
      this.#wake(name);
      stalled.push(id);
    }
    queue.stalled = new Set(queue.ids.active);
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

  /** @returns the new number of entries */
  addLog(name: string, id: string, text: string): number {
    const { logs } = this.#known(this.#queue(name), id, 'addLog');
    this.onLog(id, text);
    return logs.push(text);
  }

  updateProgress(name: string, id: string, progress: JobProgress): void {
    this.#known(this.#queue(name), id, 'updateProgress').json.progress = progress;
  }

  updateData(name: string, { id = '' }: Identified, data: unknown): void {
    this.#known(this.#queue(name), id, 'updateData').json.data = JSON.stringify(data);
  }

  /** @returns 0 when it, or one of its children that would be removed with it, is locked */
  remove(name: string, id: string, withChildren: boolean): number {
    const queue = this.#queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 1;
    const pending = withChildren ? [...job.pending] : [];
    const children = pending.map((key) => this.#jobOf(key)).filter((child) => child !== undefined);
    if ([job, ...children].some((each) => this.#isLocked(each))) return 0;
    this.onChange('removed', name, id);
    for (const child of children) this.remove(child.queue, child.id, true);
    const parent = this.#jobOf(job.parentKey);
    if (parent?.pending.delete(keyOf(job))) this.#release(parent);
    for (const ids of Object.values(queue.ids)) remove(ids, id);
    queue.jobs.delete(id);
    return 1;
  }

  pause(name: string, isPaused: boolean): void {
    const queue = this.#queue(name);
    queue.isPaused = isPaused;
    if (!isPaused && hasNext(queue)) this.#wake(name);
  }

  obliterate(name: string): number {
    if (!this.#queue(name).isPaused) throw new Error('Cannot obliterate non-paused queue');
    this.onChange('obliterated', name, '');
    // Children of its jobs, which are in other queues, stay.
    this.#data.queues.delete(name);
    return 0;
  }

  /** No part of the program reads them. */
  setQueueMeta(): void {}

  getQueueMeta(name: string): Record<string, string> {
    return this.#queue(name).isPaused ? { paused: '1' } : {};
  }

  hasQueueMetaField(name: string, field: string): boolean {
    return field === 'paused' && this.#queue(name).isPaused;
  }

  getJobLogs(name: string, id: string, start: number): { logs: string[]; count: number } {
    const logs = this.#queue(name).jobs.get(id)?.logs ?? [];
    return { logs: logs.slice(start), count: logs.length };
  }

  getJobData(name: string, id: string): JobJson | undefined {
    const job = this.#queue(name).jobs.get(id);
    return job && { ...job.json };
  }

  getProcessedChildrenValues(name: string, id: string): Record<string, string> {
    return Object.fromEntries(this.#queue(name).jobs.get(id)?.processed ?? []);
  }

  getState(name: string, id: string): string {
    return stateOf(this.#queue(name), id);
  }

  isJobInState(name: string, state: string, id: string): boolean {
    return this.getState(name, id) === state;
  }

  getCounts(name: string, states: readonly string[]): number[] {
    return states.map((state) => idsIn(this.#queue(name), state).length);
  }

  getRanges(name: string, states: readonly string[], first = 0, last = -1): string[][] {
    const end = last < 0 ? undefined : last + 1;
    return states.map((state) => idsIn(this.#queue(name), state).slice(first, end));
  }

  /** Waits for the marker that wakes a worker. @returns a function that ends the wait */
  waitForMarker(queue: string, wake: (marker: Marker) => void): () => void {
    const forget = this.#waiters.add(queue, wake);
    this.#waiters.wake(queue, this.#queue(queue));
    return forget;
  }

  #queue(name: string): StoredQueue {
    const queue = this.#data.queues.get(name) ?? newQueue();
    this.#data.queues.set(name, queue);
    return queue;
  }

  /** What BullMQ makes of a job whose key was deleted, when it moves the job. */
  #remainder(name: string, queue: StoredQueue, id: string): StoredJob {
    const job = newJob(name, id, { data: '{}', opts: {} } as unknown as JobJson, undefined);
    queue.jobs.set(id, job);
    return job;
  }

  #jobOf(key = ''): StoredJob | undefined {
    const end = key.lastIndexOf(':');
    return this.#data.queues.get(key.slice(0, end))?.jobs.get(key.slice(end + 1));
  }

  #known(queue: StoredQueue, id: string, command: string): StoredJob {
    const job = queue.jobs.get(id);
    if (job === undefined) throw new Error(`Missing key for job ${id}. ${command}`);
    return job;
  }

  /** Among jobs of one priority, first or last. */
  #enqueue({ ids, jobs }: StoredQueue, job: StoredJob, place: 'first' | 'last'): void {
    const priorityOf = (each: StoredJob | undefined): number => each?.json.opts?.priority ?? 0;
    const priority = priorityOf(job);
    if (priority === 0) {
      if (place === 'first') ids.waiting.push(job.id);
      else ids.waiting.unshift(job.id);
      return;
    }
    const after = ids.prioritized.findIndex((id) => {
      const other = priorityOf(jobs.get(id));
      return place === 'first' ? other >= priority : other > priority;
    });
    ids.prioritized.splice(after < 0 ? ids.prioritized.length : after, 0, job.id);
  }

  #isLocked({ lock }: StoredJob): boolean {
    return lock !== undefined && lock.until > this.#now();
  }

  /** Takes a job from its holder; with the token `0` from any. */
  #unlock(queue: StoredQueue, id: string, token: string, command: string): StoredJob {
    const job = this.#known(queue, id, command);
    if (token === '0') return job;
    if (!this.#isLocked(job)) throw new Error(`Missing lock for job ${id}. ${command}`);
    if (job.lock?.token !== token) throw new Error(`Lock mismatch for job ${id}. Cmd ${command} from active`);
    job.lock = undefined;
    queue.stalled.delete(id);
    return job;
  }

  /** Takes an active job from its holder, for another state. */
  #take(queue: StoredQueue, id: string, token: string, command: string, state: string): StoredJob {
    const job = this.#unlock(queue, id, token, command);
    if (!remove(queue.ids.active, id)) throw new Error(`Job ${id} is not in the active state. ${command}`);
    this.onChange(state, job.queue, id);
    return job;
  }

  /** A parent whose last child is done becomes the next job. */
  #release({ queue: name, id, pending }: StoredJob): void {
    const { ids } = this.#queue(name);
    if (pending.size > 0 || !remove(ids['waiting-children'], id)) return;
    ids.waiting.push(id);
    this.#wake(name);
  }

  /** Delayed jobs that are due can be claimed. */
  #awaken(name: string, queue: StoredQueue, clientNow: number): void {
    while (queue.ids.delayed.length > 0 && nextDue(queue) <= clientNow) {
      const job = queue.jobs.get(queue.ids.delayed.shift() ?? '');
      if (job === undefined) continue;
      job.json.delay = 0;
      queue.ids.waiting.unshift(job.id);
      this.#wake(name);
    }
  }

  #wake(name: string, membership: '0' | '1' = '0', score = 0): void {
    const queue = this.#queue(name);
    if (membership === '0' && queue.isPaused) return;
    queue.markers.set(membership, score);
    this.#waiters.wake(name, queue);
  }
}

function keyOf({ queue, id }: StoredJob): string {
  return `${queue}:${id}`;
}

function emptied(set: Set<string>): boolean {
  const { size } = set;
  set.clear();
  return size > 0;
}

function isWithKey({ lock, logs, pending, processed }: StoredJob, key: LosableKey): boolean {
  if (key === 'lock') return lock !== undefined;
  if (key === 'logs') return logs.length > 0;
  if (key === 'dependencies') return pending.size > 0;
  if (key === 'processed') return processed.size > 0;
  return true;
}
