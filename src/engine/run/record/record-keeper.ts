import { steadyNow } from '../../../base/async/clock.ts';
import { type RepeatedTask, repeat } from '../../../base/async/repeat.ts';
import type { PageStop } from '../../report/html/page-data.ts';
import { actualState, enterState, type RunRecord, type RunState, type StateCause } from './record.ts';
import type { RunStore } from './store.ts';

type StateEntry = RunRecord['states'][number];

/** How often the active time is saved. */
export const saveTimeEveryMs = 5_000;
/** After a longer suspension, a process may have lost the run without knowing. */
const longestPauseMs = 30_000;

export class RecordKeeper {
  readonly #store: Pick<RunStore, 'save'>;
  #record: RunRecord;
  /** When the state was entered, by the monotonic clock. */
  #since: number | undefined;
  #saving = Promise.resolve();
  #timeSavedAt = 0;
  #timeSaves: RepeatedTask | undefined;

  constructor(store: Pick<RunStore, 'save'>, record: RunRecord) {
    this.#store = store;
    this.#record = record;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Enters a state without writing the record. */
  enter(state: RunState, cause: StateCause = {}, changes: Partial<RunRecord> = {}): void {
    this.#record = { ...enterState(this.#recordWithTime('atWorkMs'), state, cause), ...changes };
    this.#since = steadyNow();
  }

  change(changes: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...changes };
  }

  /** Writes the record, one write at a time. The first call starts to save the active time, too. */
  save(): Promise<void> {
    if (this.#timeSaves === undefined) {
      this.#timeSavedAt = steadyNow();
      this.#timeSaves = repeat(() => this.#saveTime(), { everyMs: saveTimeEveryMs });
    }
    this.#saving = this.#saving.catch(() => {}).then(() => this.#store.save(this.#recordWithTime('notedMs')));
    return this.#saving;
  }

  close(): void {
    void this.#timeSaves?.stop();
  }

  async #saveTime(): Promise<void> {
    const now = steadyNow();
    const isLate = now > this.#timeSavedAt + longestPauseMs;
    this.#timeSavedAt = now;
    // The active time may stay unsaved: the journal's times give the duration, too.
    if (this.#record.state === 'running' && !isLate) await this.save();
  }

  #recordWithTime(key: 'atWorkMs' | 'notedMs'): RunRecord {
    const since = this.#since;
    return since === undefined
      ? this.#record
      : withTime(this.#record, () => ({ [key]: steadyNow() - since }));
  }
}

/**
 * Active milliseconds of all sessions, each by its process's monotonic clock.
 *
 * @param lastFinishedAt end of the last attempt in the journal: a process that died was active until then
 */
export function activeTime(record: RunRecord, lastFinishedAt: string | undefined): number {
  const last = actualState(record) === 'running' ? new Date().toISOString() : lastFinishedAt;
  const times = record.states.map((entry, index) =>
    entry.state === 'running' ? timeOf(entry, record.states[index + 1]?.at ?? last) : 0,
  );
  return times.reduce((sum, time) => sum + time, 0);
}

export function stopsOf({ states }: RunRecord): readonly PageStop[] {
  const running = [...states.keys()].filter((index) => states[index]?.state === 'running');
  return running.flatMap((index, runningIndex) => {
    const [entry, after, next] = [states[index], states[index + 1], states[running[runningIndex + 1] ?? -1]];
    if (entry === undefined || after === undefined || next === undefined) return [];
    if (after !== next) {
      const { state, at: from, reason } = after;
      return { from, to: next.at, state, ...(reason !== undefined && { reason }) };
    }
    const from = new Date(Date.parse(entry.at) + timeOf(entry, next.at)).toISOString();
    return from < next.at ? { from, to: next.at, state: 'interrupted' } : [];
  });
}

/** Adds the active time of a process that has ended or crashed. */
export function withCrashedTime(record: RunRecord, lastFinishedAt: string | undefined): RunRecord {
  return withTime(record, (entry) => ({ atWorkMs: timeOf(entry, lastFinishedAt) }));
}

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
 * Active milliseconds in a state. Without a saved end, uses times of day: clocks may be set, so the result is bounded by the last saved
 * time and the next one due.
 */
function timeOf({ at, atWorkMs, notedMs }: StateEntry, until: string | undefined): number {
  if (atWorkMs !== undefined) return atWorkMs;
  const byTimeOfDay = Math.max(0, Date.parse(until ?? at) - Date.parse(at));
  // Earlier versions recorded no active time.
  if (notedMs === undefined) return byTimeOfDay;
  return Math.min(Math.max(byTimeOfDay, notedMs), notedMs + saveTimeEveryMs);
}
