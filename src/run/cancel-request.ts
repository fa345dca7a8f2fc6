import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../files.ts';

/**
 * How one process asks another to cancel a run: a file in the run's folder. It needs neither the datastore, which
 * the other process holds, nor a connection between the two.
 */
const fileName = 'cancel';
const pollMs = 500;

export async function requestCancel(runFolder: string): Promise<void> {
  await writeFileAtomically(join(runFolder, fileName), `${new Date().toISOString()}\n`);
}

export async function clearCancelRequest(runFolder: string): Promise<void> {
  await rm(join(runFolder, fileName), { force: true });
}

/** Calls back once when the run is to be cancelled. Returns the function that ends the watch. */
export function watchCancelRequest(runFolder: string, onCancel: () => void): () => void {
  const timer = setInterval(async () => {
    const requested = await stat(join(runFolder, fileName)).then(
      () => true,
      () => false,
    );
    if (!requested) return;
    clearInterval(timer);
    onCancel();
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}
