import { steadyNow, steadyTimeOf, watchClock } from '../../base/async/clock.ts';
import { repeat } from '../../base/async/repeat.ts';
import { lockMs } from './bullmq.ts';

/** A worker of BullMQ. `extendJobLocks` returns the jobs whose locks another worker holds. */
interface LockHolder {
  extendJobLocks(jobIds: string[], tokens: string[], durationMs: number): Promise<string[]>;
  once(event: 'closed', listener: () => void): unknown;
}

/** A job of BullMQ. `processedOn` is when its claim was sent, in milliseconds since 1970. */
interface ClaimedJob {
  readonly id?: string | undefined;
  readonly processedOn?: number | undefined;
}

interface RenewedLock {
  /** Whether the lock is certain. If the lock may have expired, another worker may have the job. */
  isCertain(): boolean;
  release(): void;
}

export type LockRenewal = ReturnType<typeof renewLocks>;

/** How often locks are renewed. A lock survives two failed renewals. */
export const renewAfterMs = lockMs / 4;

/**
 * Renews the locks of a worker's jobs. BullMQ's renewal uses the system clock: set back, it renews nothing until the clock catches up, and
 * rows in flight would be called twice.
 */
export function renewLocks(onError: (error: Error) => void) {
  // Not a map by id: a suspended worker may claim a job again while it still has the earlier lock.
  const locks = new Set<{
    readonly id: string;
    readonly token: string;
    readonly since: number;
    /** When the last successful renewal was sent, not when its answer arrived. */
    renewedAt: number;
    readonly onLost: (() => void) | undefined;
  }>();
  return {
    /**
     * Keeps the lock of a job until `release`. A lock counts from when its claim was sent: the answer may have been late.
     *
     * @param onLost called when another worker has the lock
     */
    hold({ id = '', processedOn = Date.now() }: ClaimedJob, token = '', onLost?: () => void): RenewedLock {
      const since = Math.min(steadyNow(), steadyTimeOf(processedOn));
      const lock = { id, token, since, renewedAt: since, onLost };
      locks.add(lock);
      return {
        isCertain: () => locks.has(lock) && steadyNow() - lock.renewedAt < lockMs,
        release: () => void locks.delete(lock),
      };
    },
    start(worker: LockHolder): void {
      const renew = async (olderThanMs: number): Promise<void> => {
        const sentAt = steadyNow();
        const due = [...locks].filter(({ since }) => since <= sentAt - olderThanMs);
        if (due.length === 0) return;
        const ids = due.map(({ id }) => id);
        const tokens = due.map(({ token }) => token);
        const lost = await worker.extendJobLocks(ids, tokens, lockMs);
        for (const lock of due) {
          if (!lost.includes(lock.id)) lock.renewedAt = sentAt;
          else if (locks.has(lock)) {
            onError(new Error(`could not renew lock for job ${lock.id}`));
            lock.onLost?.();
          }
        }
      };
      const renewals = repeat(() => renew(renewAfterMs), { everyMs: renewAfterMs, onError, catchUp: true });
      // If the clock of this machine is set, a datastore that uses it may take the locks for expired: renew all of them at once.
      const clock = watchClock(() => void renew(0).catch(onError));
      worker.once('closed', () => {
        void renewals.stop();
        clock.close();
      });
    },
  };
}
