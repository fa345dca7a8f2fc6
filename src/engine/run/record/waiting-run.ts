import { lockRun } from './open-run.ts';
import { type PriorityChange, type RunRecord, withPriority } from './record.ts';
import type { RunStore } from './store.ts';

/**
 * Gives a submitted run another priority. Does nothing when a process has taken the run meanwhile: send that process a control.
 *
 * @throws a busy error `RUN_LOCKED` when a process is taking the run
 */
export async function reprioritizeWaiting(
  store: RunStore,
  id: string,
  change: Omit<PriorityChange, 'at'>,
): Promise<void> {
  const lock = await lockRun(store.folder(id), id, `set-priority ${id}`);
  try {
    const record: RunRecord = await store.load(id);
    if (record.state !== 'submitted') return;
    await store.save(withPriority(record, { ...change, at: new Date().toISOString() }));
  } finally {
    await lock.release();
  }
}
