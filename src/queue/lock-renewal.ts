import { steadyNow, watchClock } from '../clock.ts';
import { repeat } from '../repeat.ts';
import { lockMs } from './bullmq.ts';

/** What extends locks: a worker of BullMQ. @returns the jobs whose lock is somebody else's */
interface LockHolder {
  extendJobLocks(jobIds: string[], tokens: string[], durationMs: number): Promise<string[]>;
  once(event: 'closed', listener: () => void): unknown;
}

export type LockRenewal = ReturnType<typeof renewLocks>;

/** A lock survives two renewals that fail. */
const renewAfterMs = lockMs / 4;

/**
 * Renews the locks of the jobs that a worker is at. BullMQ's own renewal goes by the system's clock: set back, it would
 * renew nothing until that has caught up, and rows in flight would be called a second time.
 *
 * @param onError called with each failure; the next renewal is tried all the same
 */
export function renewLocks(onError: (error: Error) => void) {
  const held = new Map<
    string,
    { readonly token: string; readonly since: number; readonly onLost: (() => void) | undefined }
  >();
  return {
    /**
     * Keeps the lock of a job until the work is done.
     *
     * @param onLost called when the lock is somebody else's
     */
    async during<Result>(
      { id = '' }: { readonly id?: string | undefined },
      token = '',
      work: () => Promise<Result>,
      onLost?: () => void,
    ): Promise<Result> {
      held.set(id, { token, since: steadyNow(), onLost });
      try {
        return await work();
      } finally {
        held.delete(id);
      }
    },
    /** Begins to renew with a worker, until it is closed. */
    start(worker: LockHolder): void {
      const renew = async (olderThanMs: number): Promise<void> => {
        const before = steadyNow() - olderThanMs;
        const due = [...held].filter(([, { since }]) => since <= before);
        if (due.length === 0) return;
        const ids = due.map(([id]) => id);
        const tokens = due.map(([, { token }]) => token);
        const lost = await worker.extendJobLocks(ids, tokens, lockMs);
        for (const id of lost) {
          if (!held.has(id)) continue;
          onError(new Error(`could not renew lock for job ${id}`));
          held.get(id)?.onLost?.();
        }
      };
      const renewals = repeat(() => renew(renewAfterMs), { everyMs: renewAfterMs, onError, catchUp: true });
      // Where locks run out by this clock, they would seem to have.
      const clock = watchClock(() => void renew(0).catch(onError));
      worker.once('closed', () => {
        void renewals.stop();
        clock.close();
      });
    },
  };
}
