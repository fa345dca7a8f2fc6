import { steadyNow } from '../async/clock.ts';

/** An error is over after this time without it, longer than a repeated action takes to fail again. */
const overAfterMs = 2 * 60_000;
/** A lasting error is reported again after this time. */
const reminderMs = 60 * 60_000;

/** Keeps an action that fails every second from filling the log. */
export class ErrorThrottle {
  readonly #errors = new Map<string, { reportedAt: number; latestAt: number }>();
  readonly #now: () => number;

  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

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

/** An error is over after this time without it, longer than the pause before any action is tried again. */
const endedAfterMs = 6_000;
/** An error that has lasted for less than this is not mentioned. */
const mentionedAfterMs = 5_000;

export class LastingErrors {
  /** The lasting errors by message: the latest error, and when it first (`since`) and last (`at`) occurred. */
  readonly #errors = new Map<
    string,
    { readonly error: Error; readonly since: number; readonly at: number }
  >();
  readonly #now: () => number;

  constructor(now: () => number = steadyNow) {
    this.#now = now;
  }

  see(error: Error): void {
    const at = this.#now();
    this.#forgetPast(at);
    const { since } = this.#errors.get(error.message) ?? { since: at };
    this.#errors.set(error.message, { error, since, at });
  }

  get lastingError(): LastingError | undefined {
    const now = this.#now();
    this.#forgetPast(now);
    const [first] = this.#errors.values();
    return first === undefined || now - first.since < mentionedAfterMs
      ? undefined
      : { error: first.error, forMs: now - first.since };
  }

  /** The first lasting error, as a sentence without a full stop. */
  get text(): string | undefined {
    const { lastingError } = this;
    if (lastingError === undefined) return undefined;
    const { error } = lastingError;
    if (error instanceof WaitReason) return error.message;
    return `a command of the datastore fails again and again (${error.message})`;
  }

  #forgetPast(now: number): void {
    for (const [message, { at }] of this.#errors) if (now - at > endedAfterMs) this.#errors.delete(message);
  }
}
