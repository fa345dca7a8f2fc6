import { after, onAbort, unlessAborted } from '../../../base/async/waiting.ts';
import { isThisProcess } from '../../../base/disk/process.ts';
import { ErrorThrottle } from '../../../base/errors/error-throttle.ts';
import type { ScheduleStore } from '../../../daemon/schedule/store.ts';
import { type WorkPlace, work } from '../daemon/worker.ts';

/** How often the process looks whether another daemon has gone. */
const lookEveryMs = 1_000;

export interface OwnDaemon {
  /** Why no process carries out runs. Undefined while one does. */
  readonly trouble: string | undefined;
  /** Resolves when the calls in flight have ended after the signal. */
  readonly end: Promise<void>;
}

/** Carries out runs in this process while no other daemon of the state folder does. */
export function startOwnDaemon(
  place: WorkPlace,
  schedules: Pick<ScheduleStore, 'daemon'>,
  stop: AbortSignal,
): OwnDaemon {
  let trouble: string | undefined;
  const throttle = new ErrorThrottle();

  async function workUntilStopped(): Promise<void> {
    const own = new AbortController();
    const forget = onAbort(stop, () => own.abort());
    const working = setTimeout(() => {
      trouble = undefined;
    }, lookEveryMs);
    try {
      await work(place, { signal: own.signal, abort: () => own.abort() });
    } catch (error) {
      const { message } = error as Error;
      trouble = `Runs wait, because this dashboard can't carry them out: ${message}`;
      if (throttle.isNews(error as Error)) place.log.warn({ err: message }, 'cannot carry out runs');
    } finally {
      clearTimeout(working);
      forget();
    }
  }

  async function takeTurns(): Promise<void> {
    while (!stop.aborted) {
      const other = await schedules.daemon();
      if (other === undefined || isThisProcess(other)) await workUntilStopped();
      else trouble = undefined;
      await unlessAborted(after(lookEveryMs), stop);
    }
  }

  const end = takeTurns();
  return {
    get trouble() {
      return trouble;
    },
    end,
  };
}
