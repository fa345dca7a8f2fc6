import type { Logger } from 'pino';
import { steadyNow } from '../clock.ts';
import { type Repeated, repeat } from '../repeat.ts';
import type { WorkerEvent } from './row-processor.ts';

const everyMs = 10_000;

/** What calls have come to since the last line. */
const nothing = { succeeded: 0, failed: 0, retries: 0, throttled: 0, returned: 0 };

/** Logs what a worker has done, every ten seconds in which it did something, and at its end. */
export class Totals {
  readonly #log: Logger;
  readonly #repeated: Repeated;
  #finished = 0;
  #since = { ...nothing };
  #from = steadyNow();

  constructor(log: Logger) {
    this.#log = log;
    this.#repeated = repeat(() => this.#line(), { everyMs });
  }

  see(event: WorkerEvent): void {
    switch (event.type) {
      case 'finished':
        this.#finished += 1;
        this.#since[event.result.outcome === 'succeeded' ? 'succeeded' : 'failed'] += 1;
        break;
      case 'retrying':
        this.#since.retries += 1;
        break;
      default:
        this.#since[event.type] += 1;
    }
  }

  async stop(): Promise<void> {
    await this.#repeated.stop();
    this.#line();
  }

  #line(): void {
    const since = this.#since;
    const seconds = (steadyNow() - this.#from) / 1_000;
    this.#since = { ...nothing };
    this.#from = steadyNow();
    if (Object.values(since).every((rows) => rows === 0)) return;
    const rate = Math.round(((since.succeeded + since.failed) / seconds) * 10) / 10;
    this.#log.info({ ...since, rows_per_s: rate, finished: this.#finished }, 'rows');
  }
}
