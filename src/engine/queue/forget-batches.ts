import type { Datastore } from '../datastore/datastore.ts';
import type { RunBatchData } from './batch-flow.ts';
import { bullmqOn, obliterate } from './bullmq.ts';

export function batchesQueueName(runId: string): string {
  return `batches-${runId}`;
}

/** Only for an exclusive datastore, without the rows of the batches: a coordinator would wait for them without end. */
export async function forgetBatches(datastore: Datastore, runId: string): Promise<void> {
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<RunBatchData, number>(batchesQueueName(runId), options);
  // Each call reports its own failure.
  queue.on('error', () => {});
  try {
    await obliterate(queue);
  } finally {
    await queue.close();
  }
}
