import { steadyNow } from '../../base/async/clock.ts';
import { repeat } from '../../base/async/repeat.ts';
import type { Log } from '../../base/log.ts';
import type { WorkerEvent } from './row-processor.ts';

const logEveryMs = 10_000;

const noEvents = { succeeded: 0, failed: 0, retries: 0, throttled: 0, returned: 0 };

/** Logs what became of rows: every ten seconds in which something was done, and at the end. */
export function logTotals(log: Log) {
  let finished = 0;
  let since = { ...noEvents };
  let from = steadyNow();
  const writeLine = (): void => {
    const { succeeded, failed } = since;
    const seconds = (steadyNow() - from) / 1_000;
    if (Object.values(since).some((rows) => rows > 0)) {
      const rate = Math.round(((succeeded + failed) / seconds) * 10) / 10;
      log.info({ ...since, rows_per_s: rate, finished }, 'rows');
    }
    since = { ...noEvents };
    from = steadyNow();
  };
  const lines = repeat(writeLine, { everyMs: logEveryMs });
  return {
    count(event: WorkerEvent): void {
      if (event.type === 'finished') {
        finished += 1;
        since[event.result.outcome === 'succeeded' ? 'succeeded' : 'failed'] += 1;
      } else since[event.type === 'retrying' ? 'retries' : event.type] += 1;
    },
    async stop(): Promise<void> {
      await lines.stop();
      writeLine();
    },
  };
}
