import { steadyNow } from '../clock.ts';
import { enterState, type RunRecord, type RunState } from './record.ts';
import type { RunStore } from './store.ts';
import { notedEveryMs } from './time-at-work.ts';

/** A process that was suspended for longer may have lost the run to another one, and has yet to learn of it. */
const lateMs = 30_000;

/** Keeps the record of a run while a process works on it: the states it enters, and for how long it is at work. */
export class RecordKeeper {
  readonly #store: Pick<RunStore, 'save'>;
  #record: RunRecord;
  /** When its state was entered here, of the steady clock; undefined before. */
  #since: number | undefined;
  #saving = Promise.resolve();
  #notedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Pick<RunStore, 'save'>, record: RunRecord) {
    this.#store = store;
    this.#record = record;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Nothing is written before `save`. */
  enter(
    state: RunState,
    { reason, ...changes }: Partial<RunRecord> & { readonly reason?: string | undefined } = {},
  ): void {
    this.#record = { ...enterState(this.#timed('atWorkMs'), state, reason), ...changes };
    this.#since = steadyNow();
  }

  /** Writes the record as it is when its turn comes, never two at a time, and from then on now and then. */
  save(): Promise<void> {
    if (this.#timer === undefined) {
      this.#notedAt = steadyNow();
      this.#timer = setInterval(() => this.#note(), notedEveryMs);
      this.#timer.unref();
    }
    this.#saving = this.#saving.catch(() => {}).then(() => this.#store.save(this.#timed('notedMs')));
    return this.#saving;
  }

  /** Notes nothing any more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #note(): void {
    const now = steadyNow();
    const isLate = now > this.#notedAt + lateMs;
    this.#notedAt = now;
    // Worth no error: without it, the times of the journal tell how long the run was at work.
    if (this.#record.state === 'running' && !isLate) this.save().catch(() => {});
  }

  /** The record, with how long the run has been at work since it was in state `running`, if it is. */
  #timed(key: 'atWorkMs' | 'notedMs'): RunRecord {
    const last = this.#record.states.at(-1);
    if (last?.state !== 'running' || this.#since === undefined) return this.#record;
    const { notedMs: _, ...entry } = last;
    const states = [...this.#record.states.slice(0, -1), { ...entry, [key]: steadyNow() - this.#since }];
    return { ...this.#record, states };
  }
}
