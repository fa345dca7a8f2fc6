import { EventEmitter } from 'node:events';
import type { JobJson, MinimalJob, MoveToDelayedOpts } from 'bullmq';
import type { Datastore } from '../../src/engine/datastore/datastore.ts';
import type { FlowEntry, QueueModel, Refusal } from './queue-model.ts';
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

/** BullMQ's backend on the model, without the parts that `src/engine/queue` never uses. */
class ModelBackend extends EventEmitter {
  readonly qualifiedName: string;
  readonly keys = {};
  readonly minimumBlockTimeout = 0.001;
  closing: Promise<void> | undefined;
  readonly #options: BackendOptions;
  readonly #connection: ModelConnection;
  #cancelWait: (() => void) | undefined;
  #isDisconnected = false;

  constructor(name: string, options: BackendOptions) {
    super();
    this.qualifiedName = name;
    this.#options = options;
    this.#connection = options.connection;
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

  async addJob(job: JobJson, jobId: string): Promise<string> {
    const entry: FlowEntry = { queueName: this.qualifiedName, jobId, jobData: job, parentKeyOpts: {} };
    await this.#ask((model) => model.addFlow([entry]));
    return jobId;
  }

  addFlow(entries: readonly FlowEntry[]): Promise<[null, string][]> {
    return this.#ask((model) => model.addFlow(entries));
  }

  moveToActive(token: string): Promise<[JobJson | null, string, number, number]> {
    const { lockDuration = 30_000 } = this.#options;
    const now = Date.now();
    return this.#ask((model) => model.moveToActive(this.qualifiedName, token, lockDuration, now));
  }

  async moveToCompleted(
    { id = '' }: MinimalJob,
    value: unknown,
    keep: Keep,
    token: string,
    fetchNext: boolean,
  ) {
    return this.#finish(id, 'completed', JSON.stringify(value ?? null), keep, token, fetchNext);
  }

  async moveToFailed({ id = '' }: MinimalJob, reason: string, keep: Keep, token: string, fetchNext: boolean) {
    return this.#finish(id, 'failed', reason, keep, token, fetchNext);
  }

  async moveToDelayed(id: string, at: number, delayMs: number, token = '0', options: MoveToDelayedOpts = {}) {
    const fields = options.fieldsToUpdate ?? {};
    await this.#must(id, 'moveToDelayed', (model) =>
      model.moveToDelayed(this.qualifiedName, id, { token, at: at + delayMs, delayMs, fields }),
    );
    return options.fetchNext && this.closing === undefined ? this.#next(token) : [];
  }

  changePriority(id: string, priority = 0): Promise<void> {
    return this.#must(id, 'changePriority', (model) =>
      model.changePriority(this.qualifiedName, id, priority),
    );
  }

  promote(id: string): Promise<void> {
    return this.#must(id, 'promote', (model) => model.promote(this.qualifiedName, id));
  }

  async moveJobFromActiveToWait(id: string, token = '0'): Promise<number> {
    await this.#must(id, 'moveJobFromActiveToWait', (model) =>
      model.moveActiveToWait(this.qualifiedName, id, token),
    );
    return 0;
  }

  moveStalledJobsToWait(): Promise<string[]> {
    const { stalledInterval = 30_000 } = this.#options;
    return this.#ask((model) => model.moveStalledJobsToWait(this.qualifiedName, stalledInterval));
  }

  extendLocks(ids: string[], tokens: string[], lockMs: number): Promise<string[]> {
    return this.#ask((model) => model.extendLocks(this.qualifiedName, ids, tokens, lockMs));
  }

  async addLog(id: string, text: string): Promise<number> {
    const length = await this.#ask((model) => model.addLog(this.qualifiedName, id, text));
    if (typeof length === 'number') return length;
    throw refused(length, id, 'addLog');
  }

  updateData({ id = '' }: MinimalJob, data: unknown): Promise<void> {
    return this.#must(id, 'updateData', (model) =>
      model.updateData(this.qualifiedName, id, JSON.stringify(data)),
    );
  }

  getJobLogs(id: string, start: number): Promise<{ logs: string[]; count: number }> {
    return this.#ask((model) => model.logs(this.qualifiedName, id, start));
  }

  remove(id: string, withChildren: boolean): Promise<number> {
    return this.#ask((model) => model.remove(this.qualifiedName, id, withChildren));
  }

  getJobData(id: string): Promise<JobJson | undefined> {
    return this.#ask((model) => model.job(this.qualifiedName, id));
  }

  getProcessedChildrenValues(id: string): Promise<Record<string, string>> {
    return this.#ask((model) => model.processedChildren(this.qualifiedName, id));
  }

  getState(id: string): Promise<string> {
    return this.#ask((model) => model.stateOf(this.qualifiedName, id));
  }

  async isJobInState(state: string, id: string): Promise<boolean> {
    return (await this.getState(id)) === state;
  }

  getCounts(states: string[]): Promise<number[]> {
    return this.#ask((model) => model.counts(this.qualifiedName, states));
  }

  async getRanges(states: string[], first = 0, last = -1): Promise<string[][]> {
    const ids = await this.#ask((model) => model.ids(this.qualifiedName, states));
    return ids.map((each) => each.slice(first, last < 0 ? undefined : last + 1));
  }

  pause(isPaused: boolean): Promise<void> {
    return this.#ask((model) => model.pause(this.qualifiedName, isPaused));
  }

  hasQueueMetaField(field: string): Promise<boolean> {
    return this.#ask((model) =>
      field === 'paused'
        ? model.isPaused(this.qualifiedName)
        : model.meta(this.qualifiedName, field) !== null,
    );
  }

  async obliterate(): Promise<number> {
    await this.#ask((model) => model.obliterate(this.qualifiedName));
    return 0;
  }

  setQueueMeta(values: Record<string, string | number>): Promise<void> {
    return this.#ask((model) => model.setMeta(this.qualifiedName, values));
  }

  async waitForJob(seconds: number): Promise<Marker | null> {
    if (this.closing !== undefined || this.#isDisconnected) return null;
    const { marker, cancel } = this.#connection.waitForMarker(this.qualifiedName, seconds * 1_000);
    this.#cancelWait = cancel;
    return marker;
  }

  #ask<Reply>(script: (model: QueueModel) => Reply): Promise<Reply> {
    return this.#connection.ask(script);
  }

  async #must(
    id: string,
    command: string,
    script: (model: QueueModel) => Refusal | undefined,
  ): Promise<void> {
    const refusal = await this.#ask(script);
    if (refusal !== undefined) throw refused(refusal, id, command);
  }

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
    await this.#must(id, 'moveToFinished', (model) =>
      model.finish(this.qualifiedName, id, state, value, how),
    );
    const isFetched = fetchNext && this.closing === undefined;
    return { result: isFetched ? await this.#next(token) : undefined, finishedOn: at };
  }

  /** Takes two steps, like a datastore on PostgreSQL. */
  async #next(token: string): Promise<unknown[]> {
    return this.moveToActive(token);
  }
}

function countOf(keep: Keep): number {
  if (typeof keep === 'object') return keep.count ?? Number.POSITIVE_INFINITY;
  if (typeof keep === 'number') return keep;
  return keep === true ? 0 : Number.POSITIVE_INFINITY;
}

/** BullMQ's error for a refusal. */
function refused(refusal: Refusal, id: string, command: string): Error {
  switch (refusal) {
    case 'job-missing':
      return new Error(`Missing key for job ${id}. ${command}`);
    case 'lock-missing':
      return new Error(`Missing lock for job ${id}. ${command}`);
    case 'lock-mismatch':
      return new Error(`Lock mismatch for job ${id}. Cmd ${command} from active`);
    case 'not-active':
      return new Error(`Job ${id} is not in the active state. ${command}`);
    case 'not-delayed':
      return new Error(`Job ${id} is not in the delayed state. ${command}`);
    case 'pending-children':
      return new Error(`Job ${id} has pending dependencies. ${command}`);
  }
}
