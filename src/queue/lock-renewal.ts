import { steadyNow, steadyTimeOf, watchClock } from '../clock.ts';
import { repeat } from '../repeat.ts';
import { lockMs } from './bullmq.ts';

/** What extends locks: a worker of BullMQ. @returns the jobs whose lock is another worker's */
interface LockHolder {
  extendJobLocks(jobIds: string[], tokens: string[], durationMs: number): Promise<string[]>;
  once(event: 'closed', listener: () => void): unknown;
}

/** What is needed of a job that was claimed; `processedOn` is when the claim was sent, in milliseconds since 1970. */
interface ClaimedJob {
  readonly id?: string | undefined;
  readonly processedOn?: number | undefined;
}

/** A lock that a claim has, until it is released. */
interface HeldLock {
  /** Whether it can't have run out. If it may have, another worker may be at the job. */
  isHeld(): boolean;
  release(): void;
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
  // Of one job there may be two: a worker that was suspended may claim again what it still believes to have.
  const held = new Set<{
    readonly id: string;
    readonly token: string;
    readonly since: number;
    /** When the last renewal that succeeded was sent: one that is answered late says nothing of the time since. */
    renewedAt: number;
    readonly onLost: (() => void) | undefined;
  }>();
  return {
    /**
     * Keeps the lock of a job that was just claimed. It counts from when the claim was sent: the answer may have come late.
     *
     * @param onLost called when the lock is another worker's
     */
    hold({ id = '', processedOn = Date.now() }: ClaimedJob, token = '', onLost?: () => void): HeldLock {
      const since = Math.min(steadyNow(), steadyTimeOf(processedOn));
      const lock = { id, token, since, renewedAt: since, onLost };
      held.add(lock);
      return {
        isHeld: () => held.has(lock) && steadyNow() - lock.renewedAt < lockMs,
        release: () => void held.delete(lock),
      };
    },
    /** Begins to renew with a worker, until it is closed. */
    start(worker: LockHolder): void {
      const renew = async (olderThanMs: number): Promise<void> => {
        const sentAt = steadyNow();
        const due = [...held].filter(({ since }) => since <= sentAt - olderThanMs);
        if (due.length === 0) return;
        const ids = due.map(({ id }) => id);
        const tokens = due.map(({ token }) => token);
        const lost = await worker.extendJobLocks(ids, tokens, lockMs);
        for (const lock of due) {
          if (!lost.includes(lock.id)) lock.renewedAt = sentAt;
          else if (held.has(lock)) {
            onError(new Error(`could not renew lock for job ${lock.id}`));
            lock.onLost?.();
          }
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
