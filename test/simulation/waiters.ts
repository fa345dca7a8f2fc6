import { remove, type StoredQueue } from './queue-data.ts';

/** What wakes a waiting worker: `0` at once, `1` when a delayed job is due. */
export interface Marker {
  readonly membership: string;
  readonly score: number;
}

/** Workers that wait for a job of their queue, and the markers that wake them. */
export class Waiters {
  readonly #waiting: { readonly queue: string; readonly wake: (marker: Marker) => void }[] = [];

  /** @returns a function that ends the wait */
  add(queue: string, wake: (marker: Marker) => void): () => void {
    const waiter = { queue, wake };
    this.#waiting.push(waiter);
    return () => void remove(this.#waiting, waiter);
  }

  /** Each marker of a queue wakes one worker, which takes the marker. */
  wake(name: string, { markers }: StoredQueue): void {
    for (const membership of ['0', '1'] as const) {
      const score = markers.get(membership);
      const waiter = score === undefined ? undefined : this.#waiting.find(({ queue }) => queue === name);
      if (score === undefined || waiter === undefined) continue;
      remove(this.#waiting, waiter);
      markers.delete(membership);
      waiter.wake({ membership, score });
    }
  }
}
