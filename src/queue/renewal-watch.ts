import { isPresent } from './registry.ts';

/**
 * Tells whether an entry is being renewed. Clocks differ from machine to machine: they are believed when the entry is
 * first seen, from then on it counts that it changes.
 */
export class RenewalWatch {
  readonly #patienceMs: number;
  #seenAt: string | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;

  /** @param patienceMs an entry that has not changed for so long is renewed no more. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  isRenewed({ seenAt }: { readonly seenAt: string }): boolean {
    const now = performance.now();
    if (seenAt !== this.#seenAt) {
      const isAlive = this.#seenAt !== undefined || isPresent({ seenAt });
      this.#seenAt = seenAt;
      this.#changedAt = isAlive ? now : Number.NEGATIVE_INFINITY;
    }
    return now - this.#changedAt < this.#patienceMs;
  }
}

/** Tells whose entries are renewed; of those that are gone nothing is kept. */
export function renewedAmong<Entry extends { readonly id: string; readonly seenAt: string }>(
  patienceMs: number,
) {
  let watches = new Map<string, RenewalWatch>();
  return (entries: readonly Entry[]): readonly Entry[] => {
    const before = watches;
    watches = new Map(entries.map(({ id }) => [id, before.get(id) ?? new RenewalWatch(patienceMs)]));
    return entries.filter((entry) => watches.get(entry.id)?.isRenewed(entry));
  };
}
