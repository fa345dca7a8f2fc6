import { type Priority, priorities } from '../domain.ts';

/** The share of each lower priority while a higher one waits, too. */
const lowerShare = 0.05;

/** Chooses which priority is next: the highest that waits, except for the share of each lower one. */
export class PriorityTurns {
  /** Parts of a turn that a priority is owed. */
  readonly #owed = { high: 0, normal: 0, low: 0 };

  /** @returns undefined when no priority waits */
  next(isWaiting: (priority: Priority) => boolean): Priority | undefined {
    let highest: Priority | undefined;
    let due: Priority | undefined;
    for (const priority of priorities) {
      if (!isWaiting(priority)) continue;
      if (highest === undefined) {
        highest = priority;
        continue;
      }
      this.#owed[priority] += lowerShare;
      if (this.#owed[priority] >= 1) due ??= priority;
    }
    if (due !== undefined) this.#owed[due] -= 1;
    return due ?? highest;
  }
}
