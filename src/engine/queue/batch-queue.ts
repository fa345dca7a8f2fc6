import type { Job } from 'bullmq';
import { after, unlessAborted } from '../../base/async/waiting.ts';
import type { Priority, SavedAnswer } from '../../domain/terms.ts';
import { type Datastore, isOfAnotherEpoch, isRefusedCommand } from '../datastore/datastore.ts';
import { type FedBatch, flowOf, type RunBatchData, returnedOf } from './batch-flow.ts';
import type { BatchQueueOptions } from './batch-queue-options.ts';
import {
  bullmqOn,
  ifJobThere,
  isUnclaimed,
  lockMs,
  obliterate,
  promote,
  shortEventStream,
  stallOptions,
} from './bullmq.ts';
import { batchesQueueName } from './forget-batches.ts';
import { findBatches, unfinishedStates } from './found-batches.ts';
import { renewLocks } from './lock-renewal.ts';
import { restoreLostResults } from './lost-entries.ts';
import { type BatchSize, OpenBatch } from './open-batch.ts';
import { type BatchReturn, bytesOf, encodeLedgerEntry, ledgerNote, uncalledRow } from './payload.ts';
import { errorOfLostKeys, listedIdsEvery, strandingOf } from './stranded-batch.ts';

const retryAddMs = 1_000;
const usualCompareMs = 30_000;
const emptyReturn: BatchReturn = { results: [], unfinishedRows: [] };

export type BatchQueue = Awaited<ReturnType<typeof openBatchQueue>>;

/** Opens the batches of a run, restores what the journal has lost, and collects. Only one process at a time may do so for a run. */
export async function openBatchQueue(datastore: Datastore, options: BatchQueueOptions) {
  const { runId, rows, compareEveryMs = usualCompareMs } = options;
  const { classes, options: bound, producerOptions } = bullmqOn(datastore);
  const name = batchesQueueName(runId);
  const queue = new classes.Queue<RunBatchData, number>(name, { ...bound, ...shortEventStream });
  const producer = new classes.FlowProducer(producerOptions);
  queue.on('error', options.onError);
  producer.on('error', options.onError);

  /** Batches that are not collected, by id; `ids` also has the ids of collected batches. */
  const open = new Map<string, OpenBatch>();
  const ids = new Set<string>();
  /** The priority of all open batches. Undefined while an earlier coordinator may have given some of them another priority. */
  let priority: Priority | undefined;
  const locks = renewLocks(options.onError);
  const listedIfDue = listedIdsEvery(rows, datastore.exclusive ? Number.POSITIVE_INFINITY : compareEveryMs);
  /** Batches that a worker must leave before they can be taken back. */
  const awaited = new Set<string>();
  const collector = new classes.Worker<RunBatchData, number>(
    name,
    async (job, token) => {
      const { id = '' } = job;
      // Leave a batch of another coordinator, suspended or ending, alone: if it were completed here, that coordinator would miss it.
      if (!ids.has(id)) throw new Error('another coordinator of the run added a batch');
      const batch = open.get(id);
      const lock = locks.hold(job, token);
      try {
        await batch?.collectOnce(() => collect(job, batch));
        const { rows, ...data } = job.data;
        await ifJobThere(job.updateData({ collected: rows, ...data, rows: [], bytes: 0 }));
      } finally {
        lock.release();
      }
      return options.journalEnd();
    },
    { ...bound, ...stallOptions, concurrency: 2, autorun: false },
  );
  collector.on('error', options.onError);
  collector.on('failed', (_, error) => options.onError(error));
  locks.start(collector);

  const recovered = await recover().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (open.size === 0) priority = options.priority();
  void collector.run().catch(options.onError);

  function keep(id: string, batch: OpenBatch): void {
    ids.add(id);
    open.set(id, batch);
  }

  async function recover() {
    await unpause();
    // A process died while it collected the active batches. The delay of a failed collection may last too long: a clock may be set back.
    for (const job of await queue.getActive()) await job.moveToWait('0');
    for (const job of await queue.getDelayed()) await promote(job);
    const { batches, epochs, traces } = await findBatches(options, queue, rows);
    for (const batch of batches) keep(batch.id, batch);
    const hasOtherEpoch = epochs.some((epoch) => isOfAnotherEpoch(datastore, epoch));
    const rowsIn = (those: readonly OpenBatch[]) => new Set(those.flatMap((batch) => batch.rows));
    const inDatastore = rowsIn(batches.filter((batch) => !batch.isRemovedByCoordinator));
    const removed = rowsIn(batches.filter((batch) => batch.isRemovedByCoordinator));
    await restoreLostResults(queue, options.journalEnd, (lost) => options.restore(lost, inDatastore));
    return {
      batches: batches.map(({ size }): BatchSize => size),
      inDatastore,
      removed,
      traces,
      hasOtherEpoch,
    };
  }

  /** Unpauses the run's queue. It is paused when a process of the run died, or an older copy of the datastore was restored. */
  async function unpause(): Promise<void> {
    if (await queue.isPaused()) await queue.resume();
  }

  async function collect(job: Job<RunBatchData>, batch: OpenBatch): Promise<void> {
    await take(batch, await returnedOf(job));
  }

  /** @param returned what the worker of the batch says of all its rows */
  async function take(batch: OpenBatch, returned: BatchReturn | undefined): Promise<void> {
    const { results, unfinishedRows, answers } = returned ?? batch.outcomeOfLedger ?? emptyReturn;
    await saveAnswers(batch, answers);
    const known = new Set([...results, ...unfinishedRows].map(({ row }) => row));
    await options.collect({
      ...batch.size,
      results,
      unfinishedRows: unfinishedRows.map((unfinishedRow) => ({
        ...unfinishedRow,
        task: batch.taskOf(unfinishedRow),
      })),
      returnedRows: [...unfinishedRows, ...batch.rowsTakenBack],
      missingRows: batch.isRemovedByCoordinator ? [] : batch.rows.filter((row) => !known.has(row)),
    });
    open.delete(batch.id);
  }

  /** Takes a batch back if unclaimed; otherwise withdraws it. */
  async function drainOne(
    id: string,
    batch: OpenBatch,
    save: (taken: BatchReturn) => Promise<void>,
  ): Promise<void> {
    const since = performance.now();
    const child = await rows.job(id);
    if (child === undefined) return;
    // A suspended worker reads this entry of the ledger before its next call.
    batch.isWithdrawn ||= await ifJobThere(child.log(encodeLedgerEntry({ type: 'withdraw' })));
    if (!batch.isWithdrawn || (await child.isActive())) return;
    if ((await child.getState()) === 'unknown') return takeBack(id, batch);
    const taken = await batch.outcomeFromLedger(child.progress === ledgerNote);
    await saveAnswers(batch, taken.answers);
    // A worker that has claimed the batch meanwhile knows which intents led to no call: its return value decides.
    if (batch.isCollected || !(await isUnclaimed(child))) return;
    await save(taken);
    const job = await queue.getJob(id);
    if (job === undefined || !(await ifJobThere(job.updateData({ ...job.data, removedByCoordinator: true }))))
      return;
    // BullMQ does not remove a batch that a worker has claimed meanwhile, unless the worker's lock has expired.
    if (performance.now() - since > lockMs / 2) return;
    batch.isRemovedByCoordinator = true;
    batch.rowsTakenBack = batch.rows.map(uncalledRow);
    await child.remove().catch(() => {
      batch.isRemovedByCoordinator = false;
      batch.rowsTakenBack = [];
    });
  }

  async function saveAnswers(batch: OpenBatch, returned?: readonly SavedAnswer[]): Promise<void> {
    const answers = batch.takeAnswers(returned);
    if (answers.length > 0) await options.onAnswers(answers);
  }

  async function reportNewResults(batches: readonly OpenBatch[], graceMs?: number): Promise<void> {
    const results = (await Promise.all(batches.map((batch) => batch.readResults(graceMs)))).flat();
    for (const batch of open.values()) await saveAnswers(batch);
    if (results.length > 0) await options.onResults(results);
  }

  async function checkAll(): Promise<void> {
    // Compare ids, not counts: the queue may have batches of another coordinator.
    const present = new Set(await queue.getRanges([...unfinishedStates], 0, -1));
    const listed = await listedIfDue();
    const isSuspect = (id: string) => !present.has(id) || awaited.has(id) || listed?.has(id) === false;
    await Promise.all([...open].map(([id, batch]) => isSuspect(id) && takeBack(id, batch)));
  }

  /** Ends a batch that workers and collector can't end, because the datastore has lost one of its keys. */
  async function takeBack(id: string, batch: OpenBatch): Promise<void> {
    awaited.delete(id);
    const stranding = await strandingOf(batch, queue, rows);
    if (stranding.kind === 'vanished') return reportIfVanished(id, batch);
    if (stranding.kind === 'awaits its worker') awaited.add(id);
    if (stranding.kind !== 'stranded' || !open.has(id)) return;
    await batch.collectOnce(async () => {
      await collect(stranding.parent, batch);
      options.onError(await errorOfLostKeys(datastore));
    });
    await queue.remove(id);
  }

  async function reportIfVanished(id: string, batch: OpenBatch): Promise<void> {
    // A finished batch stays until it is collected; a batch in collection can't be lost.
    if (batch.isAdding || !(await hasVanished(id, batch))) return;
    await batch.collectOnce(() => take(batch, undefined));
  }

  async function hasVanished(id: string, batch: OpenBatch): Promise<boolean> {
    return open.has(id) && (await queue.getJob(id)) === undefined && open.has(id) && !batch.isCollected;
  }

  async function reprioritize(): Promise<void> {
    const wanted = options.priority();
    if (wanted === priority) return;
    for (const id of open.keys()) await rows.reprioritize(id, wanted);
    priority = wanted;
  }

  async function close(): Promise<void> {
    await collector.close();
    await Promise.all([producer.close(), queue.close()]);
  }

  const isCurrent = async (epoch: string | undefined) =>
    epoch !== undefined && (await datastore.epoch()) === epoch;

  return {
    recovered,
    get openRows(): number {
      return [...open.values()].reduce((sum, { unfinishedCount }) => sum + unfinishedCount, 0);
    },
    async refresh(): Promise<void> {
      await reportNewResults([...open.values()]);
      await unpause();
      await reprioritize();
      await checkAll();
      const hold = open.size === 0 ? undefined : await rows.whyHeld();
      if (hold !== undefined) options.onError(hold);
    },
    async readAwaited(isAwaited: (row: number) => boolean): Promise<void> {
      const wanted = [...open.values()].filter((batch) => batch.rows.some(isAwaited));
      await reportNewResults(wanted, 0);
    },
    /**
     * Adds a batch. Waits while the datastore does not answer; after an abort, the batch may have been added.
     *
     * @param knownEpoch if the datastore's epoch has changed since, a missing batch is lost
     * @returns whether the datastore has said that it has the batch
     */
    async add({ id, tasks }: FedBatch, signal: AbortSignal, knownEpoch?: string): Promise<boolean> {
      const added = tasks.map(({ row }) => row);
      const { connectionEpoch: epoch } = datastore;
      const batch = new OpenBatch({ id, queue: rows, rows: added, bytes: bytesOf(...tasks), tasks });
      const place = { batches: name, rows: rows.name, priority: options.priority() };
      const flow = flowOf(id, place, { run: runId, tasks, policy: options.policy, epoch });
      let mayBeAdded = false;
      keep(id, batch);
      batch.isAdding = true;
      while (batch.isAdding) {
        try {
          await producer.add(flow);
          batch.isAdding = false;
          return true;
        } catch (error) {
          if (datastore.exclusive) throw error;
          options.onError(error as Error);
          // If only the reply was lost, the datastore has the batch: a second batch would call the rows again.
          mayBeAdded ||= !isRefusedCommand(error);
          await unlessAborted(after(retryAddMs), signal);
          batch.isAdding = !signal.aborted && (await hasVanished(id, batch));
          if (!batch.isAdding || !mayBeAdded || (await isCurrent(knownEpoch))) continue;
          // A batch that the datastore has lost after it was added is not added again: its rows may have been called.
          batch.isAdding = false;
          await reportIfVanished(id, batch);
        }
      }
      return false;
    },
    /** Removes unclaimed batches once `save` has their outcome, and withdraws the others. */
    async drain(save: (taken: BatchReturn) => Promise<void>): Promise<void> {
      for (const [id, batch] of open) await drainOne(id, batch, save);
    },
    /** Deletes the run's queue from the datastore. All batches must be collected. */
    async forget(): Promise<void> {
      await collector.close();
      // A restored older copy of the datastore has collected batches again. Removing a batch also removes its rows from their own queue.
      for (const id of await queue.getRanges([...unfinishedStates], 0, -1)) await queue.remove(id);
      await obliterate(queue);
    },
    close,
  };
}
