import type { BatchQueueOptions } from '../../src/queue/batch-queue.ts';
import type { RowQueue } from '../../src/queue/row-queue.ts';

export const policy = { attempts: 3, backoffMs: 7 };

/** How a test opens the batches of a run of which it wants to hear nothing. */
export function unheard(runId: string, rows: RowQueue): BatchQueueOptions {
  return {
    runId,
    rows,
    policy,
    collect: async () => {},
    onAnswers: async () => {},
    onResults: async () => {},
    onVanished: async () => {},
    onError: () => {},
  };
}
