import { createHash, randomUUID } from 'node:crypto';

/**
 * The queue of all batches of rows for one API, shared by every run and machine that calls it, because its limits are
 * shared. `baseUrl` must be normalised.
 */
export function rowsQueueName(baseUrl: string): string {
  return `rows-${createHash('sha256').update(baseUrl).digest('hex').slice(0, 12)}`;
}

/** The queue of a run's batches; only the process that coordinates the run listens there. */
export function batchesQueueName(runId: string): string {
  return `batches-${runId}`;
}

/** Job id of a batch, in both queues: never used again, so that nobody takes a later batch for this one. */
export function batchJobId(runId: string): string {
  return `${runId}-b-${randomUUID()}`;
}
