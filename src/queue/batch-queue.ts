import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult } from '../domain.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';
import { batchesQueueName, batchJobId, rowJobId, rowOfChildKey } from './names.ts';
import { decodeResult, encodeTask, type RowTask } from './payload.ts';

/** How many results are read from the datastore at once. */
const pageSize = 1_000;

/** A collection that failed is no row's fault: it is tried until the run ends or the journal takes it. */
const collectAgain = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

/** What a batch weighs: rows, and characters of their request bodies. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Stored with a batch. */
type BatchData = BatchSize;

/** What a batch has come to when all its rows are finished. */
export interface CollectedBatch extends BatchSize {
  readonly results: readonly RowResult[];
  /** Rows that BullMQ gave up, with the reason: none, unless their workers die again and again. */
  readonly abandoned: readonly { readonly row: number; readonly reason: string }[];
}

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rowsQueue: string;
  /** Attempts of each row. */
  readonly attempts: number;
  /** Takes over the results; the datastore forgets them when it resolves, and hands them out again if it rejects. */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** Errors of the datastore, one by one; the queue goes on by itself. */
  readonly onError: (error: Error) => void;
}

/** The batches of one run: added as flows, collected when all their rows are finished. */
export interface BatchQueue {
  /** Adds rows as one batch, all or nothing: consecutive but for those that are finished already, at least one. */
  add(tasks: readonly RowTask[], bytes: number): Promise<void>;
  /** Waits for a collection that is going on. */
  close(): Promise<void>;
}

export function openBatchQueue(datastore: Datastore, options: BatchQueueOptions): BatchQueue {
  const { classes, options: bound, producerOptions } = bullmqOn(datastore);
  const queueName = batchesQueueName(options.runId);
  const producer = new classes.FlowProducer(producerOptions);
  producer.on('error', options.onError);
  const collector = new classes.Worker<BatchData, null>(
    queueName,
    async (job) => {
      await options.collect(await readBatch(job));
      return null;
    },
    { ...bound, ...stallOptions, concurrency: 2 },
  );
  collector.on('error', options.onError);

  return {
    async add(tasks, bytes) {
      const first = tasks[0];
      if (first === undefined) return;
      await producer.add(
        {
          name: 'batch',
          queueName,
          data: { rows: tasks.length, bytes } satisfies BatchData,
          opts: { jobId: batchJobId(options.runId, first.row), removeOnComplete: true, ...collectAgain },
          children: tasks.map((task) => ({
            name: task.operation,
            queueName: options.rowsQueue,
            data: encodeTask(task),
            opts: {
              jobId: rowJobId(options.runId, task.row),
              attempts: options.attempts,
              backoff: { type: 'told' },
              removeOnComplete: true,
              removeOnFail: true,
              ignoreDependencyOnFailure: true,
              stackTraceLimit: 0,
            },
          })),
        },
        { queuesOptions: { [queueName]: shortEventStream, [options.rowsQueue]: shortEventStream } },
      );
    },
    async close() {
      await collector.close();
      await producer.close();
    },
  };
}

/** Everything that is stored with a batch. */
export async function readBatch(job: Job<BatchSize>): Promise<CollectedBatch> {
  const results: RowResult[] = [];
  let cursor = 0;
  do {
    const page = await job.getDependencies({ processed: { cursor, count: pageSize } });
    results.push(...Object.values(page.processed ?? {}).map(decodeResult));
    cursor = page.nextProcessedCursor ?? 0;
  } while (cursor !== 0);
  const abandoned = Object.entries(await job.getIgnoredChildrenFailures());
  return {
    rows: job.data.rows,
    bytes: job.data.bytes,
    results,
    abandoned: abandoned.map(([key, reason]) => ({ row: rowOfChildKey(key), reason: String(reason) })),
  };
}
