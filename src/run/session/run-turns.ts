import { type Priority, priorities } from '../../domain.ts';
import { PriorityTurns } from '../../queue/priority-turns.ts';

/** A run that waits for its turn, or has it. */
export interface TurnRun {
  readonly id: string;
  readonly priority: Priority;
  /** Whether no process has worked on it yet. */
  readonly isNew: boolean;
}

/** Changing runs takes about a second. */
const turnMs = 60_000;

/**
 * The turns of runs in a daemon that works on one at a time. Runs of one priority alternate and get the same time; each lower
 * priority gets its share of the turns. A new run of a higher priority gets its turn at once.
 */
export class RunTurns {
  readonly #priorities = new PriorityTurns();
  /** How long each run has had the turn, milliseconds. */
  readonly #served = new Map<string, number>();
  #lookedAt = 0;
  #holder: string | undefined;
  #endsAt = 0;

  /**
   * @param now monotonic milliseconds
   * @param runs that wait or have the turn, in order of their submission
   * @returns the run that has the turn from now on
   */
  choose(now: number, runs: readonly TurnRun[]): TurnRun | undefined {
    const holder = runs.find(({ id }) => id === this.#holder);
    if (holder !== undefined) this.#serve(holder.id, now - this.#lookedAt);
    this.#lookedAt = now;
    for (const id of this.#served.keys()) if (!runs.some((run) => run.id === id)) this.#served.delete(id);
    const urgent = holder && runs.find((run) => run.isNew && rankOf(run) < rankOf(holder));
    if (holder !== undefined && urgent === undefined && now < this.#endsAt) return holder;
    const next = urgent ?? this.#nextOf(runs);
    this.#holder = next?.id;
    this.#endsAt = now + turnMs;
    return next;
  }

  /** The run of the next priority that was served least. A new one does not make up for the past. */
  #nextOf(runs: readonly TurnRun[]): TurnRun | undefined {
    const next = this.#priorities.next((each) => runs.some(({ priority }) => priority === each));
    const among = runs.filter(({ priority }) => priority === next);
    const known = among.flatMap(({ id }) => this.#served.get(id) ?? []);
    const least = known.length === 0 ? 0 : Math.min(...known);
    for (const { id } of among) this.#serve(id, this.#served.has(id) ? 0 : least);
    return among.toSorted((a, b) => (this.#served.get(a.id) ?? 0) - (this.#served.get(b.id) ?? 0))[0];
  }

  #serve(id: string, ms: number): void {
    this.#served.set(id, (this.#served.get(id) ?? 0) + ms);
  }
}

export function rankOf({ priority }: TurnRun): number {
  return priorities.indexOf(priority);
}
