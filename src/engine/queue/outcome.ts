import type { OpenBatch } from './open-batch.ts';
import type { BatchReturn } from './payload.ts';
import { recollected } from './recollection.ts';
import type { RollCall } from './roll-call.ts';

/** What a batch adds to the journal. */
export interface BatchOutcome extends BatchReturn {
  /** Rows of which nothing is known. */
  readonly missing: readonly number[];
}

const nothing: BatchReturn = { results: [], leftovers: [] };

/**
 * The outcome of a batch that no worker has any more.
 *
 * @param returned by its worker, if there was one
 * @returns undefined when workers must first say what they know, because the datastore may have forgotten it
 */
export async function outcomeOf(
  batch: OpenBatch,
  returned: BatchReturn | undefined,
  { rollCall, open }: { readonly rollCall: RollCall; readonly open: ReadonlyMap<string, OpenBatch> },
): Promise<BatchOutcome | undefined> {
  const { id, epoch, rows, isTaken } = batch;
  if (epoch === undefined || !rollCall.isOfAnother(epoch)) {
    const { results, leftovers } = returned ?? nothing;
    const told = new Set([...results, ...leftovers].map(({ row }) => row));
    return { ...nothing, ...returned, missing: isTaken ? [] : rows.filter((row) => !told.has(row)) };
  }
  if (isTaken) return { ...nothing, missing: [] };
  // Its ledger is read only when no worker can write into it.
  if (rollCall.recollect(id, epoch) === undefined) return undefined;
  const read = await batch.abandoned();
  const recollection = rollCall.recollect(id, epoch);
  if (recollection === undefined) return undefined;
  const outcome = recollected({ rows, read, returned }, recollection);
  // An older copy of the datastore may hold rows twice: they are fed again when the last of these batches is taken.
  const elsewhere = new Set([...open.values()].flatMap((other) => (other === batch ? [] : other.rows)));
  return { ...outcome, leftovers: outcome.leftovers.filter(({ row }) => !elsewhere.has(row)), missing: [] };
}
