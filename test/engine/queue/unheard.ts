import type { BatchQueueOptions } from '../../../src/engine/queue/batch-queue-options.ts';
import { RollCall } from '../../../src/engine/queue/roll-call.ts';
import type { RowQueue } from '../../../src/engine/queue/row-queue.ts';
import { emptyRoster } from '../../../src/engine/queue/testimony.ts';

export const policy = { attempts: 3, backoffMs: 7 };

/** For a worker on a datastore that forgets nothing. */
export const noWitness = { began() {}, ended() {}, handedOver() {} };

/** Options for the batches of a run when a test needs no reports of them. */
export function unheard(runId: string, rows: RowQueue): BatchQueueOptions {
  return {
    runId,
    rows,
    policy,
    rollCall: new RollCall({ connectionEpoch: undefined, epoch: async () => undefined }, emptyRoster),
    priority: () => 'normal',
    collect: async () => {},
    journalEnd: () => 0,
    restore: async () => {},
    onAnswers: async () => {},
    onResults: async () => {},
    onVanished: async () => {},
    onError: () => {},
  };
}
