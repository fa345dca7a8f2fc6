import { steadyNow } from './clock.ts';

/** An error that has not come for this long is over. Longer than a repeated action takes to fail again. */
const overAfterMs = 2 * 60_000;
/** An error that lasts is reported again after this time. */
const reminderMs = 60 * 60_000;

/** Distinguishes new errors from lasting ones, so that an action that fails every second does not fill the log. */
export class ErrorNews {
  readonly #known = new Map<string, { toldAt: number; seenAt: number }>();
  readonly #now: () => number;

  /** @param now for tests */
  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  /** Whether to report an error that has just come. */
  isNews({ message }: Error): boolean {
    const now = this.#now();
    for (const [each, { seenAt }] of this.#known) if (now - seenAt > overAfterMs) this.#known.delete(each);
    const known = this.#known.get(message);
    const isNews = known === undefined || now - known.toldAt >= reminderMs;
    this.#known.set(message, { toldAt: isNews ? now : known.toldAt, seenAt: now });
    return isNews;
  }
}
