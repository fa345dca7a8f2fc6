import type { Datastore } from '../datastore/datastore.ts';
import type { RunBatchData } from './batch-flow.ts';
import { bullmqOn, obliterate } from './bullmq.ts';

export function batchesQueueName(runId: string): string {
  return `batches-${runId}`;
}

/** Deletes a run's batches from an exclusive datastore after their rows: a coordinator would wait for those rows without end. */
export async function forgetBatches(datastore: Datastore, runId: string): Promise<void> {
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<RunBatchData, number>(batchesQueueName(runId), options);
  // BullMQ throws errors that have no listener; each call here reports its own failure.
  queue.on('error', () => {});
  try {
    await obliterate(queue);
  } finally {
    await queue.close();
  }
}
