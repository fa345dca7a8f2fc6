import { createHash } from 'node:crypto';

/**
 * The queue of all rows for one API, shared by every run and machine that calls it, because its limits are shared.
 * `baseUrl` must be normalised.
 */
export function rowsQueueName(baseUrl: string): string {
  return `rows-${createHash('sha256').update(baseUrl).digest('hex').slice(0, 12)}`;
}

/** The queue of a run's batches; only the process that coordinates the run listens there. */
export function batchesQueueName(runId: string): string {
  return `batches-${runId}`;
}

/** Job id of a row; unique while the row is in the datastore. */
export function rowJobId(runId: string, row: number): string {
  return `${runId}-r${row}`;
}

/** Job id of the batch that begins with this row. */
export function batchJobId(runId: string, firstRow: number): string {
  return `${runId}-b${firstRow}`;
}

/** The row of a job id, or of a child key (`<prefix>:<queue>:<id>`, whatever the datastore puts before). */
export function rowOfJobId(key: string): number {
  const row = Number(key.slice(key.lastIndexOf('-r') + 2));
  if (!Number.isSafeInteger(row)) throw new Error(`Not the id of a row: ${key}`);
  return row;
}
