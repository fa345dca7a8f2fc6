import type { JobJson } from 'bullmq';
import {
  hasNext,
  jsonOf,
  newJob,
  nextDue,
  noData,
  remove,
  type StoredData,
  type StoredJob,
  type StoredQueue,
} from './queue-data.ts';
import { QueueView } from './queue-view.ts';
import { type Marker, Waiters } from './waiters.ts';

/** A job of a flow, as BullMQ hands it over. */
export interface FlowEntry {
  readonly queueName: string;
  readonly jobId: string;
  readonly jobData: JobJson;
  readonly parentKeyOpts: { readonly parentKey?: string; readonly addToWaitingChildren?: boolean };
}

/** The answers of BullMQ's scripts when they refuse. */
export type Refusal =
  | 'job-missing'
  | 'lock-missing'
  | 'lock-mismatch'
  | 'not-active'
  | 'not-delayed'
  | 'pending-children';

/**
 * The part of BullMQ's datastore on which `src/engine/queue` relies, in memory: each function is one script, done at once and whole.
 * The suite for all datastores (`test/engine/queue/conformance.ts`) shows that it keeps their promises.
 */
export class QueueModel extends QueueView {
  readonly #waiters = new Waiters();
  /** Milliseconds of the datastore's own clock. */
  readonly #now: () => number;
  /** Called with jobs about to be added, and with entries written into a ledger. */
  onAdd: (entries: readonly FlowEntry[]) => void = () => {};
  onLog: (id: string, text: string) => void = () => {};
  /** Called with all other changes. */
  onChange: (what: string, queue: string, id: string) => void = () => {};

  constructor(now: () => number) {
    super();
    this.#now = now;
  }

  /** A key that is lost together with all others; named now if it has no name. */
  mark(name: string): string {
    this.data.mark ??= name;
    return this.data.mark;
  }

  /** A worker shows a sign of life. */
  beat(worker: string): void {
    this.data.beats.set(worker, this.#now());
  }

  testify(worker: string, testimony: string): void {
    this.data.testimonies.set(worker, testimony);
  }

  /** Milliseconds since the last sign of life of each worker. */
  silences(): [string, number][] {
    return [...this.data.beats].map(([worker, at]) => [worker, this.#now() - at]);
  }

  testimonies(): [string, string][] {
    return [...this.data.testimonies];
  }

  /** Replaces all data; by default with none. */
  replace(data: StoredData = noData()): void {
    this.data = data;
  }

  addFlow(entries: readonly FlowEntry[]): [null, string][] {
    this.onAdd(entries);
    return entries.map(({ queueName, jobId, jobData, parentKeyOpts }) => {
      const queue = this.queue(queueName);
      if (queue.jobs.has(jobId)) return [null, jobId];
      const job = newJob(jobId, jobData, parentKeyOpts.parentKey);
      queue.jobs.set(jobId, job);
      const parent = this.jobOf(job.parentKey);
      parent?.job.pending.add(`${queueName}:${jobId}`);
      if (parentKeyOpts.addToWaitingChildren) queue.waitingChildren.push(jobId);
      else {
        this.#enqueue(queue, job, 'last');
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
    const queue = this.queue(name);
    this.#promote(name, clientNow);
    if (queue.isPaused) return [null, '', 0, 0];
    const id = queue.waiting.pop() ?? queue.prioritized.shift()?.id;
    const job = id === undefined ? undefined : queue.jobs.get(id);
    if (id === undefined || job === undefined) return [null, '', 0, nextDue(queue)];
    queue.active.unshift(id);
    this.onChange('claimed', name, id);
    if (token !== '0') job.lock = { token, until: this.#now() + lockMs };
    job.processedOn = clientNow;
    job.attemptsStarted += 1;
    if (hasNext(queue)) this.#mark(name);
    return [jsonOf(job), id, 0, 0];
  }

  finish(
    name: string,
    id: string,
    state: 'completed' | 'failed',
    value: string,
    { token, kept, at }: { token: string; kept: number; at: number },
  ): Refusal | undefined {
    const queue = this.queue(name);
    if (state === 'completed' && (queue.jobs.get(id)?.pending.size ?? 0) > 0) return 'pending-children';
    const job = this.#unlock(queue, id, token);
    if (typeof job === 'string') return job;
    if (!remove(queue.active, id)) return 'not-active';
    this.onChange(state, name, id);
    const parent = this.jobOf(job.parentKey);
    if (parent?.job.pending.delete(`${name}:${id}`)) {
      if (state === 'completed') parent.job.processed.set(`${name}:${id}`, value);
      this.#release(parent);
    }
    job.attemptsMade += 1;
    job.finishedOn = at;
    if (state === 'completed') job.returnValue = value;
    else job.failedReason = value;
    queue[state].unshift(id);
    for (const removed of queue[state].splice(kept)) queue.jobs.delete(removed);
    return undefined;
  }

  moveToDelayed(
    name: string,
    id: string,
    delay: { token: string; at: number; delayMs: number; fields: Partial<StoredJob> },
  ): Refusal | undefined {
    const queue = this.queue(name);
    const job = this.#unlock(queue, id, delay.token);
    if (typeof job === 'string') return job;
    if (!remove(queue.active, id)) return 'not-active';
    this.onChange('delayed', name, id);
    Object.assign(job, delay.fields);
    job.attemptsMade += 1;
    job.delay = delay.delayMs;
    queue.delayed.push({ id, at: delay.at });
    queue.delayed.sort((one, other) => one.at - other.at);
    this.#mark(name, '1', nextDue(queue));
    return undefined;
  }

  promote(name: string, id: string): Refusal | undefined {
    const queue = this.queue(name);
    if (!queue.delayed.some((delayed) => delayed.id === id)) return 'not-delayed';
    queue.delayed = queue.delayed.filter((delayed) => delayed.id !== id);
    queue.waiting.unshift(id);
    this.#mark(name);
    return undefined;
  }

  changePriority(name: string, id: string, priority: number): Refusal | undefined {
    const queue = this.queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 'job-missing';
    job.json = { ...job.json, opts: { ...job.json.opts, priority } };
    const isPrioritized = queue.prioritized.some((each) => each.id === id);
    queue.prioritized = queue.prioritized.filter((each) => each.id !== id);
    if (isPrioritized || remove(queue.waiting, id)) this.#enqueue(queue, job, 'last');
    return undefined;
  }

  moveActiveToWait(name: string, id: string, token: string): Refusal | undefined {
    const queue = this.queue(name);
    const job = this.#unlock(queue, id, token);
    if (typeof job === 'string') return job;
    if (remove(queue.active, id)) {
      this.onChange('given back', name, id);
      this.#enqueue(queue, job, 'first');
      this.#mark(name);
    }
    return undefined;
  }

  /** Two such looks find a job whose lock has expired: the first one suspects it. */
  moveStalledJobsToWait(name: string, everyMs: number): string[] {
    const queue = this.queue(name);
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
    const queue = this.queue(name);
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
  addLog(name: string, id: string, text: string): number | Refusal {
    const job = this.queue(name).jobs.get(id);
    if (job === undefined) return 'job-missing';
    this.onLog(id, text);
    return job.logs.push(text);
  }

  updateData(name: string, id: string, data: string): Refusal | undefined {
    const job = this.queue(name).jobs.get(id);
    if (job === undefined) return 'job-missing';
    job.json = { ...job.json, data };
    return undefined;
  }

  /** @returns 0 when it, or one of its children that would be removed with it, is locked */
  remove(name: string, id: string, withChildren: boolean): number {
    const queue = this.queue(name);
    const job = queue.jobs.get(id);
    if (job === undefined) return 1;
    const children = withChildren ? [...job.pending].map((key) => this.jobOf(key)) : [];
    if (
      [job, ...children.map((child) => child?.job)].some((each) => each !== undefined && this.#isLocked(each))
    )
      return 0;
    this.onChange('removed', name, id);
    for (const child of children) if (child !== undefined) this.remove(child.name, child.job.id, true);
    const parent = this.jobOf(job.parentKey);
    if (parent?.job.pending.delete(`${name}:${id}`)) this.#release(parent);
    for (const ids of [queue.waiting, queue.active, queue.waitingChildren, queue.completed, queue.failed])
      remove(ids, id);
    queue.delayed = queue.delayed.filter((delayed) => delayed.id !== id);
    queue.prioritized = queue.prioritized.filter((each) => each.id !== id);
    queue.jobs.delete(id);
    return 1;
  }

  pause(name: string, isPaused: boolean): void {
    const queue = this.queue(name);
    queue.isPaused = isPaused;
    if (!isPaused && hasNext(queue)) this.#mark(name);
  }

  setMeta(name: string, values: Readonly<Record<string, string | number>>): void {
    for (const [field, value] of Object.entries(values)) this.queue(name).meta.set(field, String(value));
  }

  obliterate(name: string): void {
    const queue = this.queue(name);
    if (!queue.isPaused) throw new Error('Cannot obliterate non-paused queue');
    this.onChange('obliterated', name, '');
    // Children of its jobs, which are in other queues, stay.
    this.data.queues.delete(name);
  }

  /** Waits for the marker that wakes a worker. @returns a function that ends the wait */
  waitForMarker(queue: string, wake: (marker: Marker) => void): () => void {
    const forget = this.#waiters.add(queue, wake);
    this.#waiters.wake(queue, this.queue(queue));
    return forget;
  }

  /** Among jobs of one priority, first or last. */
  #enqueue(queue: StoredQueue, job: StoredJob, place: 'first' | 'last'): void {
    const priority = job.json.opts?.priority ?? 0;
    if (priority === 0) {
      if (place === 'first') queue.waiting.push(job.id);
      else queue.waiting.unshift(job.id);
      return;
    }
    const after = queue.prioritized.findIndex((each) =>
      place === 'first' ? each.priority >= priority : each.priority > priority,
    );
    queue.prioritized.splice(after < 0 ? queue.prioritized.length : after, 0, { id: job.id, priority });
  }

  #isLocked({ lock }: StoredJob): boolean {
    return lock !== undefined && lock.until > this.#now();
  }

  /** Takes a job from its holder; with the token `0` from any. */
  #unlock(queue: StoredQueue, id: string, token: string): StoredJob | Refusal {
    const job = queue.jobs.get(id);
    if (job === undefined) return 'job-missing';
    if (token === '0') return job;
    if (!this.#isLocked(job)) return 'lock-missing';
    if (job.lock?.token !== token) return 'lock-mismatch';
    job.lock = undefined;
    queue.stalled.delete(id);
    return job;
  }

  /** A parent whose last child is done becomes the next job. */
  #release({ name, job }: { readonly name: string; readonly job: StoredJob }): void {
    const queue = this.queue(name);
    if (job.pending.size > 0 || !remove(queue.waitingChildren, job.id)) return;
    queue.waiting.push(job.id);
    this.#mark(name);
  }

  #promote(name: string, clientNow: number): void {
    const queue = this.queue(name);
    while ((queue.delayed[0]?.at ?? Number.POSITIVE_INFINITY) <= clientNow) {
      const due = queue.delayed.shift();
      const job = due && queue.jobs.get(due.id);
      if (job === undefined) continue;
      job.delay = 0;
      queue.waiting.unshift(job.id);
      this.#mark(name);
    }
  }

  #mark(name: string, membership: '0' | '1' = '0', score = 0): void {
    const queue = this.queue(name);
    if (membership === '0' && queue.isPaused) return;
    queue.markers.set(membership, score);
    this.#waiters.wake(name, queue);
  }
}
