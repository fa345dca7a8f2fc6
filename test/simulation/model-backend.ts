import { EventEmitter } from 'node:events';
import type { JobJson, MinimalJob, MoveToDelayedOpts } from 'bullmq';
import type { Datastore } from '../../src/engine/datastore/datastore.ts';
import type { FlowEntry, QueueModel } from './queue-model.ts';
import type { Marker } from './waiters.ts';

/** How a process reaches the model: handed to BullMQ as `connection`. */
export interface ModelConnection {
  /** Runs one script on the model. */
  ask<Reply>(script: (model: QueueModel) => Reply): Promise<Reply>;
  /** Waits until a worker of the queue is woken; null after that time. */
  waitForMarker(queue: string, limitMs: number): { readonly marker: Promise<Marker | null>; cancel(): void };
}

/** The backend that BullMQ makes of a connection to the model. */
export const modelBackend = ((name: string, options: BackendOptions) =>
  new ModelBackend(name, options)) as unknown as Datastore['backend'];

interface BackendOptions {
  readonly connection: ModelConnection;
  readonly lockDuration?: number;
  readonly stalledInterval?: number;
}

/** A BullMQ option: how many finished jobs remain, by default all; `true` removes each. */
type Keep = boolean | number | { readonly count?: number } | undefined;

/** Commands for which the model has a script that takes the same arguments. */
const commands = [
  'addFlow',
  'addLog',
  'changePriority',
  'extendLocks',
  'getCounts',
  'getJobData',
  'getJobLogs',
  'getProcessedChildrenValues',
  'getQueueMeta',
  'getRanges',
  'getState',
  'hasQueueMetaField',
  'isJobInState',
  'moveJobFromActiveToWait',
  'obliterate',
  'pause',
  'promote',
  'remove',
  'setQueueMeta',
  'updateData',
  'updateProgress',
] as const satisfies readonly (keyof QueueModel)[];

/** BullMQ's backend on the model, without the parts that `src/engine/queue` never uses. */
class ModelBackend extends EventEmitter {
  readonly qualifiedName: string;
  readonly keys = {};
  readonly minimumBlockTimeout = 0.001;
  closing: Promise<void> | undefined;
  readonly #options: BackendOptions;
  #cancelWait: (() => void) | undefined;
  #isDisconnected = false;

  constructor(name: string, options: BackendOptions) {
    super();
    this.qualifiedName = name;
    this.#options = options;
    for (const command of commands)
      Object.assign(this, {
        [command]: (...given: unknown[]) =>
          this.#ask((model) => Reflect.apply(model[command], model, [name, ...given])),
      });
  }

  async waitUntilReady(): Promise<void> {}
  async setName(): Promise<void> {}

  async close(): Promise<void> {
    this.closing ??= this.disconnectBlocking();
    await this.closing;
  }

  disconnect(): Promise<void> {
    return this.disconnectBlocking();
  }

  async disconnectBlocking(): Promise<void> {
    this.#isDisconnected = true;
    this.#cancelWait?.();
  }

  async reconnectBlocking(): Promise<void> {
    this.#isDisconnected = false;
  }

  forQueue(name: string): ModelBackend {
    return new ModelBackend(name, this.#options);
  }

  toKey(type: string): string {
    return `${this.qualifiedName}:${type}`;
  }

  clientName(suffix = ''): string {
    return `${this.qualifiedName}${suffix}`;
  }

  async addJob(jobData: JobJson, jobId: string): Promise<string> {
    const queueName = this.qualifiedName;
    const entry: FlowEntry = { queueName, jobId, jobData, parentKeyOpts: {} };
    await this.#ask((model) => model.addFlow(queueName, [entry]));
    return jobId;
  }

  moveToActive(token: string): Promise<[JobJson | null, string, number, number]> {
    const { lockDuration = 30_000 } = this.#options;
    const now = Date.now();
    return this.#ask((model) => model.moveToActive(this.qualifiedName, token, lockDuration, now));
  }

  moveToCompleted({ id = '' }: MinimalJob, value: unknown, keep: Keep, token: string, fetchNext: boolean) {
    return this.#finish(id, 'completed', JSON.stringify(value ?? null), keep, token, fetchNext);
  }

  moveToFailed({ id = '' }: MinimalJob, reason: string, keep: Keep, token: string, fetchNext: boolean) {
    return this.#finish(id, 'failed', reason, keep, token, fetchNext);
  }

  async moveToDelayed(id: string, at: number, delayMs: number, token = '0', options: MoveToDelayedOpts = {}) {
    const fields = options.fieldsToUpdate ?? {};
    const how = { token, at: at + delayMs, delayMs, fields };
    await this.#ask((model) => model.moveToDelayed(this.qualifiedName, id, how));
    return options.fetchNext && this.closing === undefined ? this.moveToActive(token) : [];
  }

  moveStalledJobsToWait(): Promise<string[]> {
    const { stalledInterval = 30_000 } = this.#options;
    return this.#ask((model) => model.moveStalledJobsToWait(this.qualifiedName, stalledInterval));
  }

  async waitForJob(seconds: number): Promise<Marker | null> {
    if (this.closing !== undefined || this.#isDisconnected) return null;
    const { marker, cancel } = this.#options.connection.waitForMarker(this.qualifiedName, seconds * 1_000);
    this.#cancelWait = cancel;
    return marker;
  }

  #ask<Reply>(script: (model: QueueModel) => Reply): Promise<Reply> {
    return this.#options.connection.ask(script);
  }

  /** Takes two steps to fetch the next job, like a datastore on PostgreSQL. */
  async #finish(
    id: string,
    state: 'completed' | 'failed',
    value: string,
    keep: Keep,
    token: string,
    fetchNext: boolean,
  ) {
    const at = Date.now();
    const how = { token, kept: countOf(keep), at };
    await this.#ask((model) => model.finish(this.qualifiedName, id, state, value, how));
    const isFetched = fetchNext && this.closing === undefined;
    return { result: isFetched ? await this.moveToActive(token) : undefined, finishedOn: at };
  }
}

function countOf(keep: Keep): number {
  if (typeof keep === 'object') return keep.count ?? Number.POSITIVE_INFINITY;
  if (typeof keep === 'number') return keep;
  return keep === true ? 0 : Number.POSITIVE_INFINITY;
}
