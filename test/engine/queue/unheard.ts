import { type FedBatch, newBatchId } from '../../../src/engine/queue/batch-flow.ts';
import type { BatchQueueOptions } from '../../../src/engine/queue/batch-queue-options.ts';
import type { RowTask } from '../../../src/engine/queue/payload.ts';
import type { RowQueue } from '../../../src/engine/queue/row-queue.ts';

export const policy = { attempts: 3, backoffMs: 7 };

/** Options for the batches of a run when a test needs no reports of them. */
export function unheard(runId: string, rows: RowQueue): BatchQueueOptions {
  return {
    runId,
    rows,
    policy,
    unsettled: new Set(),
    priority: () => 'normal',
    collect: async () => {},
    journalEnd: () => 0,
    restore: async () => {},
    onAnswers: async () => {},
    onResults: async () => {},
    onError: () => {},
  };
}

export function newBatch(runId: string, tasks: readonly RowTask[]): FedBatch {
  return { id: newBatchId(runId), tasks };
}
