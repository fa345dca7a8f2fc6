import { steadyNow } from '../async/clock.ts';

/** An error that has not come for this long is over. Longer than a repeated action takes to fail again. */
const overAfterMs = 2 * 60_000;
/** An error that lasts is reported again after this time. */
const reminderMs = 60 * 60_000;

/** Distinguishes new errors from lasting ones, so that an action that fails every second does not fill the log. */
export class ErrorThrottle {
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

/** Why an action waits, without a fault: one sentence without a full stop. */
export class WaitReason extends Error {}

/** An error that comes again and again. */
export interface LastingError {
  readonly error: Error;
  /** Milliseconds since it first came. */
  readonly forMs: number;
}

/** An error that has not come for this long is over. Longer than the pause before any action is tried again. */
const comesNoMoreAfterMs = 6_000;
/** After this silence, say what is being waited for. */
const worthTellingMs = 5_000;

/** Finds the errors that last, among those of actions that are repeated until they succeed. */
export class LastingErrors {
  /** By message: the latest error, when the first one came, and when the latest. */
  readonly #known = new Map<string, { readonly error: Error; readonly since: number; readonly at: number }>();
  readonly #now: () => number;

  /** @param now for tests */
  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  see(error: Error): void {
    const at = this.#now();
    this.#forgetPast(at);
    const { since } = this.#known.get(error.message) ?? { since: at };
    this.#known.set(error.message, { error, since, at });
  }

  /** The error that has lasted longest; undefined unless one has lasted five seconds. */
  get current(): LastingError | undefined {
    const now = this.#now();
    this.#forgetPast(now);
    const [first] = this.#known.values();
    return first === undefined || now - first.since < worthTellingMs
      ? undefined
      : { error: first.error, forMs: now - first.since };
  }

  /** The same for display: one sentence without a full stop. */
  get text(): string | undefined {
    const { current } = this;
    if (current === undefined) return undefined;
    const { error } = current;
    if (error instanceof WaitReason) return error.message;
    return `a command of the datastore fails again and again (${error.message})`;
  }

  #forgetPast(now: number): void {
    for (const [message, { at }] of this.#known)
      if (now - at > comesNoMoreAfterMs) this.#known.delete(message);
  }
}
