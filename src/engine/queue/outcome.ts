import type { OpenBatch } from './open-batch.ts';
import type { BatchReturn } from './payload.ts';
import { recollected } from './recollection.ts';
import type { RollCall } from './roll-call.ts';

export interface BatchOutcome extends BatchReturn {
  /** Rows with neither result nor leftover in the datastore. */
  readonly missing: readonly number[];
}

const nothing: BatchReturn = { results: [], leftovers: [] };

/**
 * The outcome of a batch that no worker has any more.
 *
 * @param returned the return value of its worker, if any
 * @returns undefined while workers must first testify
 */
export async function outcomeOf(
  batch: OpenBatch,
  returned: BatchReturn | undefined,
  { rollCall, open }: { readonly rollCall: RollCall; readonly open: ReadonlyMap<string, OpenBatch> },
): Promise<BatchOutcome | undefined> {
  const { id, epoch, rows, isTaken } = batch;
  if (epoch === undefined || !rollCall.isOfAnother(epoch)) {
    const known = returned ?? batch.outcome ?? nothing;
    const knownRows = new Set([...known.results, ...known.leftovers].map(({ row }) => row));
    return { ...known, missing: isTaken ? [] : rows.filter((row) => !knownRows.has(row)) };
  }
  if (isTaken) return { ...nothing, missing: [] };
  // Only when no worker can write to the ledger any more.
  if (rollCall.recollect(id, epoch) === undefined) return undefined;
  const read = await batch.abandoned();
  const recollection = rollCall.recollect(id, epoch);
  if (recollection === undefined) return undefined;
  const outcome = recollected({ rows, read, returned }, recollection);
  // An older copy of the datastore may hold a row in two batches: feed it again when the last of them is taken.
  const otherRows = new Set([...open.values()].flatMap((other) => (other === batch ? [] : other.rows)));
  return {
    ...outcome,
    leftovers: outcome.leftovers.filter(({ row }) => !otherRows.has(row)),
    missing: [],
  };
}
