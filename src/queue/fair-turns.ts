import { randomUUID } from 'node:crypto';

/**
 * Start-time fair queuing (Goyal, Vin and Cheng, 1996): among runs of one priority, each gets the same number of rows called,
 * however large its batches are and whenever it began.
 *
 * The **turn** of a batch is the number of rows that its run has been served when the batch starts, on a scale that all runs
 * share: a run that begins or was idle starts from the turn that is served now. BullMQ claims the lowest turn first. The id of a
 * batch carries its turn, so that other coordinators can see what is served.
 */

/** BullMQ's largest priority. */
const mostPriority = 2_097_151;
/** Turns that differ by less are claimed in order of arrival. */
const rowsPerPriority = 8;

/** The id of a new batch; never reused, so that no later batch is mistaken for it. */
export function newBatchId(runId: string, turn: number | undefined): string {
  return `${runId}-b-${randomUUID()}${turn === undefined ? '' : `.${turn}`}`;
}

/** The turn in the id of a batch; 0 without one. */
export function turnOf(id: string): number {
  return Number(/\.(\d+)$/.exec(id)?.[1] ?? 0);
}

/** BullMQ's priority for a turn, lowest first. After 16 million rows without an idle moment, batches go in order of arrival. */
export function bullmqPriority(turn: number): number {
  return Math.min(mostPriority, 1 + Math.floor(turn / rowsPerPriority));
}

/** More than a batch has. */
const batchRows = 250;

/** The turns of one run. */
export class FairTurns {
  #next = 0;

  /**
   * @param rows of the batch
   * @param served the turn that is served now; undefined when unknown
   * @param open rows of this run in the queue: its next turn is at most as far ahead, and by the batch that was claimed last. Otherwise
   *   the turns of the others were lost.
   */
  take(rows: number, served: number | undefined, open: number): number {
    const turn =
      served === undefined ? this.#next : Math.min(Math.max(this.#next, served), served + open + batchRows);
    this.#next = turn + rows;
    return turn;
  }
}
