import { steadyNow } from '../../clock.ts';
import { type Repeated, repeat } from '../../repeat.ts';
import type { PageStop } from '../../report/html/page-data.ts';
import { actualState, enterState, type RunRecord, type RunState, type StateCause } from './record.ts';
import type { RunStore } from './store.ts';

type StateEntry = RunRecord['states'][number];

/** How often a process that works on a run writes down for how long it has. */
export const notedEveryMs = 5_000;
/** A process that was suspended for longer may have lost the run to another one, and has yet to learn of it. */
const lateMs = 30_000;

/** Keeps the record of a run while a process works on it: the states that it enters, and for how long the process works on it. */
export class RecordKeeper {
  readonly #store: Pick<RunStore, 'save'>;
  #record: RunRecord;
  /** When its state was entered here, of the steady clock; undefined before. */
  #since: number | undefined;
  #saving = Promise.resolve();
  #notedAt = 0;
  #notes: Repeated | undefined;

  constructor(store: Pick<RunStore, 'save'>, record: RunRecord) {
    this.#store = store;
    this.#record = record;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Nothing is written before `save`. */
  enter(state: RunState, cause: StateCause = {}, changes: Partial<RunRecord> = {}): void {
    this.#record = { ...enterState(this.#timed('atWorkMs'), state, cause), ...changes };
    this.#since = steadyNow();
  }

  /** Changes something else than its state. Nothing is written before `save`. */
  change(changes: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...changes };
  }

  /** Writes the record as it is when its turn comes, never two at a time, and from then on now and then. */
  save(): Promise<void> {
    if (this.#notes === undefined) {
      this.#notedAt = steadyNow();
      this.#notes = repeat(() => this.#note(), { everyMs: notedEveryMs });
    }
    this.#saving = this.#saving.catch(() => {}).then(() => this.#store.save(this.#timed('notedMs')));
    return this.#saving;
  }

  /** Notes nothing any more. */
  close(): void {
    void this.#notes?.stop();
  }

  async #note(): Promise<void> {
    const now = steadyNow();
    const isLate = now > this.#notedAt + lateMs;
    this.#notedAt = now;
    // No error: without it, the times of the journal tell the duration of the run.
    if (this.#record.state === 'running' && !isLate) await this.save();
  }

  /** The record, with how long the run has been active since it entered the state `running`, if it is in that. */
  #timed(key: 'atWorkMs' | 'notedMs'): RunRecord {
    const since = this.#since;
    return since === undefined
      ? this.#record
      : withTime(this.#record, () => ({ [key]: steadyNow() - since }));
  }
}

/**
 * How long a run was active, milliseconds, all sessions together: each by the steady clock of its process.
 *
 * @param lastFinishedAt end of the last attempt in the journal: a process that died was active until then.
 */
export function activeTime(record: RunRecord, lastFinishedAt: string | undefined): number {
  const last = actualState(record) === 'running' ? new Date().toISOString() : lastFinishedAt;
  const times = record.states.map((entry, index) =>
    entry.state === 'running' ? timeOf(entry, record.states[index + 1]?.at ?? last) : 0,
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** When a run was not in progress between its start and the last time it was resumed. */
export function stopsOf({ states }: RunRecord): readonly PageStop[] {
  const running = [...states.keys()].filter((index) => states[index]?.state === 'running');
  return running.flatMap((index, place) => {
    const [entry, after, next] = [states[index], states[index + 1], states[running[place + 1] ?? -1]];
    if (entry === undefined || after === undefined || next === undefined) return [];
    if (after !== next) {
      const { state, at: from, reason } = after;
      return { from, to: next.at, state, ...(reason !== undefined && { reason }) };
    }
    // Its process died.
    const from = new Date(Date.parse(entry.at) + timeOf(entry, next.at)).toISOString();
    return from < next.at ? { from, to: next.at, state: 'interrupted' } : [];
  });
}

/** The record of a run without a process, with how long its last process worked, also if it crashed. */
export function withCrashedTime(record: RunRecord, lastFinishedAt: string | undefined): RunRecord {
  return withTime(record, (entry) => ({ atWorkMs: timeOf(entry, lastFinishedAt) }));
}

/** The record, with the time of its state where that is `running`. */
function withTime(
  record: RunRecord,
  time: (entry: StateEntry) => Pick<StateEntry, 'atWorkMs' | 'notedMs'>,
): RunRecord {
  const last = record.states.at(-1);
  if (last?.state !== 'running') return record;
  const { notedMs: _, ...entry } = last;
  return { ...record, states: [...record.states.slice(0, -1), { ...entry, ...time(last) }] };
}

/**
 * Times of day tell it where the process could not; since clocks are set, they are believed within what it has noted
 * and would have noted next.
 */
function timeOf({ at, atWorkMs, notedMs }: StateEntry, until: string | undefined): number {
  if (atWorkMs !== undefined) return atWorkMs;
  const byTimeOfDay = Math.max(0, Date.parse(until ?? at) - Date.parse(at));
  // Earlier versions noted nothing.
  if (notedMs === undefined) return byTimeOfDay;
  return Math.min(Math.max(byTimeOfDay, notedMs), notedMs + notedEveryMs);
}
