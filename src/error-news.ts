import { steadyNow } from './clock.ts';

/** An error that has not come for so long is over. Longer than what is repeated takes to fail again. */
const overAfterMs = 2 * 60_000;
/** An error that lasts is told again after so long. */
const reminderMs = 60 * 60_000;

/** Tells errors that are news from those that only last, so that what fails every second fills no log. */
export class ErrorNews {
  readonly #known = new Map<string, { toldAt: number; seenAt: number }>();
  readonly #now: () => number;

  /** @param now for tests */
  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  /** Whether to tell of an error that has just come. */
  isNews({ message }: Error): boolean {
    const now = this.#now();
    for (const [each, { seenAt }] of this.#known) if (now - seenAt > overAfterMs) this.#known.delete(each);
    const known = this.#known.get(message);
    const isNews = known === undefined || now - known.toldAt >= reminderMs;
    this.#known.set(message, { toldAt: isNews ? now : known.toldAt, seenAt: now });
    return isNews;
  }
}
