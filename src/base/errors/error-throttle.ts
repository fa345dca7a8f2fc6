import { steadyNow } from '../async/clock.ts';

/** An error that has not occurred for this long is over: longer than a repeated action takes to fail again. */
const overAfterMs = 2 * 60_000;
/** A lasting error is reported again after this time. */
const reminderMs = 60 * 60_000;

/** So that an action that fails every second does not fill the log. */
export class ErrorThrottle {
  /** By message: when the error was last reported, and when it last occurred. */
  readonly #errors = new Map<string, { reportedAt: number; latestAt: number }>();
  readonly #now: () => number;

  /** @param now for tests */
  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  /** Whether to report an error that has just occurred. */
  isNews({ message }: Error): boolean {
    const now = this.#now();
    for (const [each, { latestAt }] of this.#errors)
      if (now - latestAt > overAfterMs) this.#errors.delete(each);
    const known = this.#errors.get(message);
    const isNews = known === undefined || now - known.reportedAt >= reminderMs;
    this.#errors.set(message, { reportedAt: isNews ? now : known.reportedAt, latestAt: now });
    return isNews;
  }
}

/** Why an action waits though nothing is wrong; its message is a sentence without a full stop. */
export class WaitReason extends Error {}

export interface LastingError {
  readonly error: Error;
  readonly forMs: number;
}

/** An error that has not occurred for this long is over: longer than the pause before any action is tried again. */
const endedAfterMs = 6_000;
/** A shorter error is not mentioned. */
const mentionedAfterMs = 5_000;

/** Finds the lasting errors of actions that are repeated until they succeed. */
export class LastingErrors {
  /** By message: the latest error, when it first occurred (`since`), and when it last did (`at`). */
  readonly #errors = new Map<
    string,
    { readonly error: Error; readonly since: number; readonly at: number }
  >();
  readonly #now: () => number;

  /** @param now for tests */
  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  see(error: Error): void {
    const at = this.#now();
    this.#forgetPast(at);
    const { since } = this.#errors.get(error.message) ?? { since: at };
    this.#errors.set(error.message, { error, since, at });
  }

  /** The error that has lasted longest, five seconds at least. */
  get current(): LastingError | undefined {
    const now = this.#now();
    this.#forgetPast(now);
    const [first] = this.#errors.values();
    return first === undefined || now - first.since < mentionedAfterMs
      ? undefined
      : { error: first.error, forMs: now - first.since };
  }

  /** For display: a sentence without a full stop. */
  get text(): string | undefined {
    const { current } = this;
    if (current === undefined) return undefined;
    const { error } = current;
    if (error instanceof WaitReason) return error.message;
    return `a command of the datastore fails again and again (${error.message})`;
  }

  #forgetPast(now: number): void {
    for (const [message, { at }] of this.#errors) if (now - at > endedAfterMs) this.#errors.delete(message);
  }
}
