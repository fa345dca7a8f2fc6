import { withScope } from '../../../base/async/scope.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { idempotencyKey } from '../../../domain/trace.ts';
import { digest } from '../../rows/digest-table.ts';
import type { PlannedRow, UnderstoodRow } from '../../rows/row.ts';
import { type RunRecord, runKey } from '../record/record.ts';
import { progressOf } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { callsOf, openRowsWithResults, subjectKey } from './rows-with-results.ts';

interface KeptKey {
  readonly values: string;
  readonly key: string;
  readonly run: string;
}

/**
 * Keys of calls that earlier runs may have had processed. A call with the same operation and values that is sent with such a key is
 * processed once, however often it was sent. A later success of its subject ends a key: the API would answer with the earlier result, and
 * not make the change again.
 */
export class KeptKeys {
  /** The calls with their keys, by subject, in the order of the calls. */
  readonly #keys = new Map<string, KeptKey[]>();
  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** Notes the calls of a row. Call this in the order of rows and runs. */
  note(run: RunRecord, row: Exclude<PlannedRow, { kind: 'invalid' }>, result: RowResult): void {
    if (row.kind !== 'callable' || row.operation.key !== 'by run') return;
    const subject = subjectKey(row);
    const key = row.key ?? idempotencyKey(runKey(run), row.place);
    const others = (this.#keys.get(subject) ?? []).filter((kept) => kept.key !== key);
    if (result.unclear || result.outcome === 'pending')
      others.push({ values: valuesDigest(row), key, run: run.id });
    else if (result.outcome === 'not_attempted') return;
    else if (result.outcome === 'succeeded') others.length = 0;
    if (others.length === 0) this.#keys.delete(subject);
    else this.#keys.set(subject, others);
  }

  /** Each key is for one row: of two equal rows, the second gets the key of the second call. */
  take(row: UnderstoodRow): KeptKey | undefined {
    if (this.isEmpty || row.operation.key !== 'by run') return undefined;
    const kept = this.#keys.get(subjectKey(row));
    const index = kept?.findIndex(({ values }) => values === valuesDigest(row)) ?? -1;
    return index < 0 ? undefined : kept?.splice(index, 1)[0];
  }
}

/**
 * The keys of runs of this state folder that called an API. A run without unclear rows is not read, unless it may have ended a key.
 *
 * @param onUnreadable gets runs whose rows can't be read
 */
export async function keysOfEarlierRuns(
  store: RunStore,
  baseUrl: string,
  onUnreadable: (run: string) => void,
): Promise<KeptKeys> {
  const keys = new KeptKeys();
  if (!store.operations.some(({ key }) => key === 'by run')) return keys;
  const runs = await store.list(() => {});
  for (const run of runs.filter(({ options }) => options.baseUrl === baseUrl)) {
    if (!makesKeys(store, run)) continue;
    try {
      const { done, unclear = 1 } = await progressOf(store, run);
      if (keys.isEmpty && unclear === 0 && done === run.plan.rows) continue;
      await noteRun(store, run, keys);
    } catch {
      onUnreadable(run.id);
    }
  }
  return keys;
}

/** @param runs a run and its later retries */
export async function keysOfRetried(store: RunStore, runs: readonly RunRecord[]): Promise<KeptKeys> {
  const keys = new KeptKeys();
  for (const run of runs) if (makesKeys(store, run)) await noteRun(store, run, keys);
  return keys;
}

function makesKeys({ operations }: RunStore, { plan }: RunRecord): boolean {
  return operations.some(({ name, key }) => key === 'by run' && plan.operations.includes(name));
}

function noteRun(store: RunStore, run: RunRecord, keys: KeptKeys): Promise<void> {
  return withScope(async (defer) => {
    for await (const part of callsOf(await openRowsWithResults(store, run, defer)))
      for (const { row, result } of part) keys.note(run, row, result);
  });
}

function valuesDigest({ values }: UnderstoodRow): string {
  return digest(JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))));
}
