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

/** The data of the model of the datastore, and the scripts that only read them. */
export class QueueView {
  protected data: StoredData = noData();

  copy(): StoredData {
    return structuredClone(this.data);
  }

  /** The queues with jobs, and how many. */
  jobCounts(): ReadonlyMap<string, number> {
    return new Map(
      [...this.data.queues]
        .map(([name, { jobs }]) => [name, jobs.size] as const)
        .filter(([, count]) => count > 0),
    );
  }

  hasQueue(name: string): boolean {
    return this.data.queues.has(name);
  }

  logs(name: string, id: string, start: number): { logs: string[]; count: number } {
    const logs = this.queue(name).jobs.get(id)?.logs ?? [];
    return { logs: logs.slice(start), count: logs.length };
  }

  job(name: string, id: string): JobJson | undefined {
    const job = this.queue(name).jobs.get(id);
    return job && jsonOf(job);
  }

  processedChildren(name: string, id: string): Record<string, string> {
    return Object.fromEntries(this.queue(name).jobs.get(id)?.processed ?? []);
  }

  stateOf(name: string, id: string): string {
    const queue = this.queue(name);
    const states = ['completed', 'failed', 'delayed', 'active', 'waiting', 'prioritized', 'waiting-children'];
    return states.find((state) => jobsIn(queue, state).includes(id)) ?? 'unknown';
  }

  counts(name: string, states: readonly string[]): number[] {
    return states.map((state) => jobsIn(this.queue(name), state).length);
  }

  ids(name: string, states: readonly string[]): string[][] {
    return states.map((state) => [...jobsIn(this.queue(name), state)]);
  }

  isPaused(name: string): boolean {
    return this.queue(name).isPaused;
  }

  meta(name: string, field: string): string | null {
    return this.queue(name).meta.get(field) ?? null;
  }

  protected queue(name: string): StoredQueue {
    let queue = this.data.queues.get(name);
    if (queue === undefined) {
      queue = newQueue();
      this.data.queues.set(name, queue);
    }
    return queue;
  }

  protected jobOf(key: string | undefined): { readonly name: string; readonly job: StoredJob } | undefined {
    if (key === undefined) return undefined;
    const end = key.lastIndexOf(':');
    const name = key.slice(0, end);
    const job = this.data.queues.get(name)?.jobs.get(key.slice(end + 1));
    return job && { name, job };
  }
}
